"""Which memories a request to forget names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from adk_memorybank.generation.attributes import Claim, Profile, profile, same_subject, same_value
from adk_memorybank.generation.instructions import is_everything
from adk_memorybank.generation.lexicon import Language, language
from adk_memorybank.generation.words import content, stem, tokens, verbs

# Nearness never decides alone: some word of what is named must be there too.
_NEAR = 0.72
_GROUPS: dict[str, frozenset[str]] = {
    "job": frozenset(("job", "employer")),
    "diet": frozenset(("diet", "avoids", "allergy")),
    "partner": frozenset(("marital", "name of")),
    "home": frozenset(("home", "address")),
    "age": frozenset(("age",)),
}
_VAGUE = frozenset(
    "thing thg stuff information info detail preference habit conversation memory fact data favourit everyth anyth "
    "all about said say told tell know "
    "informazioni cose dati información cosas informations choses données informationen daten informações coisas "
    "dados".split()
)
_RELATED = re.compile(
    r"^(?:friend|sister|brother|mother|father|mom|dad|wife|husband|son|daughter|boss|colleague|partner|cousin)$"
)


@dataclass(frozen=True, slots=True)
class Request:
    """A request to forget, taken apart once.

    Attributes:
        everything: all there is.
        claims: attributes with values, where a statement is named ("that I live in Rome").
        attributes: attributes without values, where their nouns are named ("my diet").
        nouns: these nouns, as content words.
        words: content words that must be in a memory.
    """

    spoken: Profile
    everything: bool
    claims: tuple[Claim, ...]
    attributes: frozenset[str]
    nouns: frozenset[str]
    words: frozenset[str]

    @classmethod
    def read(cls, what: str) -> Request:
        """Takes apart what is to be forgotten, in the user's words."""
        spoken = profile(what)
        lexicon = language(spoken.code)
        named = _named(what, lexicon)
        attributes = frozenset(
            attribute for noun in named for attribute in _GROUPS.get(lexicon.nouns[noun], {lexicon.nouns[noun]})
        )
        rest = what
        for noun in named:
            rest = re.sub(
                rf"\b{re.escape(noun)}\b" if lexicon.spaced else re.escape(noun), " ", rest, flags=re.IGNORECASE
            )
        words = frozenset(word for word in content(rest, lexicon) if word not in _VAGUE)
        if spoken.names:
            words = frozenset(word for word in words if not _RELATED.match(word)) or words
        nouns = frozenset(stem(noun, lexicon.code) for noun in named)
        return cls(spoken, is_everything(what, lexicon), spoken.claims, attributes, nouns, words)

    def means(self, memory: Profile, claims: tuple[Claim, ...], similarity: float) -> bool:
        """Whether the memory is among what is to be forgotten.

        Args:
            claims: all that the memory claims.
            similarity: cosine of the request and the memory; 0 where it is not known.
        """
        if self.everything:
            return True
        if self.spoken.plain == memory.plain:
            return True
        if self.claims:
            return same_subject(self.spoken, memory) and any(
                mine.attribute == other.attribute and same_value(mine, other) and not other.ended
                for mine in self.claims
                for other in claims
            )
        if self.attributes and not self.words:
            mine = memory.subject[0] == "user"
            has = any(claim.attribute.split(":")[0] in self.attributes for claim in claims)
            return mine and (has or bool(self.nouns & memory.words))
        wanted = self.words if self.attributes else self.words | self.nouns
        if not wanted:
            return False
        if self.spoken.negated and not memory.negated:
            return False
        if wanted <= memory.words or (
            self.spoken.core and self.spoken.core <= memory.core and len(self.spoken.core) > 1
        ):
            return True
        # What claims an attribute of its own ("I work in Japan") is not meant by "my trip to Japan".
        return similarity >= _NEAR and not claims and bool((self.words & memory.words) - verbs(memory.code))


def keys_of_wish(what: str) -> list[frozenset[str]]:
    """What a fact must have in common with a request to forget for it to be meant: all keys of one of these sets.

    Narrower than `Request.means`, for it decides on facts that nobody looks at any more: by equality, which can be
    told of hashes too.
    """
    request = Request.read(what)
    spoken = request.spoken
    if request.everything:
        return [frozenset()]
    if request.claims:
        return [frozenset({_value_key(spoken, one)}) for one in request.claims if not one.ended and one.value]
    wanted = request.words | request.nouns
    attributes = request.attributes if not request.words else frozenset[str]()
    if wanted and not attributes:  # "where the user lives" has the stem of the noun and not the noun
        known = {stem(noun, spoken.code): named for noun, named in language(spoken.code).nouns.items()}
        if all(word in known for word in wanted):
            attributes = frozenset[str]().union(*(_GROUPS.get(known[word], {known[word]}) for word in wanted))
    if attributes:
        return [frozenset({f"attribute {attribute}"}) for attribute in sorted(attributes)]
    also = ("negated",) if spoken.negated else ()
    return [frozenset((*(f"word {word}" for word in wanted), *also))] if wanted else []


def keys_of_fact(fact: str) -> frozenset[str]:
    """All keys by which a request to forget can mean this fact."""
    spoken = profile(fact)
    keys = {f"word {word}" for word in spoken.words}
    keys |= {_value_key(spoken, claim) for claim in spoken.claims}
    if spoken.subject[0] == "user":
        keys |= {f"attribute {claim.attribute.split(':')[0]}" for claim in spoken.claims}
    return frozenset(keys | {"negated"} if spoken.negated else keys)


def _value_key(spoken: Profile, claim: Claim) -> str:
    return " ".join(("value", *spoken.subject, claim.attribute, *sorted(claim.value)))


def _named(what: str, lexicon: Language) -> list[str]:
    if not lexicon.spaced:
        return [noun for noun in lexicon.nouns if noun in what]
    found = [token if lexicon.code == "en" else token.rsplit("'", 1)[-1] for token in tokens(what)]
    return [token.removesuffix("'s") for token in found if token.removesuffix("'s") in lexicon.nouns]
