"""A turn of the user's, sentence by sentence: what may state something, what is to be remembered or forgotten."""

from __future__ import annotations

from dataclasses import dataclass

from adk_memorybank.generation.attributes import stands_alone
from adk_memorybank.generation.breathing import in_breaths
from adk_memorybank.generation.generator import Turn
from adk_memorybank.generation.instructions import instruction, is_dismissal
from adk_memorybank.generation.lexicon import Language, language
from adk_memorybank.generation.secrets import Kind as Secret
from adk_memorybank.generation.secrets import announces_secret, kinds_in
from adk_memorybank.generation.sentences import before_question, compound, parted, sentences, stripped, unquoted
from adk_memorybank.generation.statements import is_question, may_state
from adk_memorybank.generation.words import detect

LONGEST_FACT = 500


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence of the user's, or a part of one.

    Attributes:
        turn: the index of its turn.
        code: its language's.
        states: whether it may state something at all; other sentences only tell how these are meant.
        explicit: the user asked to remember it, in so many words.
        forget: the user asked to forget it.
    """

    text: str
    turn: int
    code: str
    states: bool = True
    explicit: bool = False
    forget: bool = False


async def utterances(index: int, turn: Turn, welcome: frozenset[Secret]) -> list[Utterance]:
    """What one turn of the user says, in order.

    Args:
        welcome: the kinds of secrets that some topic or field asks for; a sentence with another is passed over.
    """
    text = unquoted(turn.text)
    turn_code = detect(text)
    found: list[Utterance] = []
    seen: set[str] = set()
    secret_follows = False
    async for sentence in in_breaths(sentences(text)):
        hidden, secret_follows = secret_follows, announces_secret(sentence)
        if hidden or secret_follows or kinds_in(sentence) - welcome:
            continue
        code = detect(sentence, turn_code)
        lexicon = language(code)
        asked = instruction(sentence, lexicon) or instruction(stripped(sentence, lexicon), lexicon)
        if asked and asked.kind == "ignore" and not asked.what:
            return [one for one in found if one.forget]
        if asked and asked.kind != "remember":
            if asked.what:
                what, after = parted(asked.what, lexicon)
                if not (after and is_dismissal(what)):
                    found.append(Utterance(capped(what), index, code, forget=True))
                if after and may_state(after, lexicon):
                    found.append(Utterance(after, index, code))
            elif found and not found[-1].forget:
                found.pop()
            continue
        if asked:
            found.append(Utterance(asked.what, index, code, explicit=True))
            continue
        if lexicon.material.search(sentence):
            break
        for part, states in _parts(sentence, lexicon):
            if part in seen or kinds_in(part) - welcome:
                continue
            seen.add(part)
            found.append(Utterance(part, index, code, states=states))
    return found


def _parts(sentence: str, lexicon: Language) -> list[tuple[str, bool]]:
    """The parts of a sentence that can be facts of their own, and the rest; each with whether it may state a fact."""
    sentence = stripped(sentence.rstrip(" :："), lexicon)
    asks: list[tuple[str, bool]] = []
    if is_question(sentence, lexicon):
        asks = [(sentence, False)]
        sentence = before_question(sentence, lexicon)
        if not sentence:
            return asks
    parts = compound(sentence, lexicon, lambda part: stands_alone(part, lexicon))
    return [*((part, may_state(part, lexicon)) for part in parts), *asks]


def capped(text: str) -> str:
    """A fact of at most `LONGEST_FACT` characters."""
    return text if len(text) <= LONGEST_FACT else f"{text[: LONGEST_FACT - 1].rstrip()}…"
