"""What the user asks for in so many words: remember this, always do that, forget the other."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from adk_memorybank.generation.lexicon import Language, group

_CLAUSE_LAST = re.compile(r"^(ich|wir)\s+(.+?)\s+([a-zäöüß]+)$", re.IGNORECASE)
_SAID = re.compile(
    r"^(?:everything |all |anything )?(?:(?:that|what) )?(?:i(?:'ve| have)? (?:ever )?(?:said|told you"
    r"|mentioned)(?: to you)?|you (?:know|remember))(?: about)?\s+"
    r"|^(?:tutto )?(?:quello|ciò|quanto) che (?:ti )?(?:ho detto|sai)"
    r"(?: (?:sulla|sulle|sul|sui|su|della|delle|del|di)\b)?\s*"
    r"|^(?:todo )?lo que (?:te )?(?:he dicho|dije|sabes)(?: (?:sobre|de|acerca de))?\s+"
    r"|^(?:tout )?ce que (?:je t['’]ai dit|j['’]ai dit|tu sais)(?: (?:sur|de|à propos de))?\s+"
    r"|^(?:alles,? )?was (?:ich (?:dir )?|du )?über\s+(?=.+(?:gesagt|erzählt|weißt))"
    r"|^(?:tudo )?o que (?:eu )?(?:te |lhe )?(?:disse|falei|você sabe|sabes)(?: (?:sobre|de|acerca d[eao]))?\s+"
    r"|^我(?:之前)?(?:说|告诉你)(?:过)?的?(?:关于)?|^私が(?:話した|言った)"
    r"|^(?:то,? )?что я (?:тебе )?(?:говорила?|сказала?)(?: (?:о|об|про))?\s+",
    re.IGNORECASE,
)
_SAID_TAIL = re.compile(
    r"\s*(?:habe ich gesagt|(?:ich )?(?:dir )?(?:gesagt|erzählt) habe|weißt|的(?:事|事情|内容|信息)?|について)$",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"^(?:about|su|sobre|sur|à propos de|über|关于|о|об|про)\s+|^关于", re.IGNORECASE)
_POINTER = re.compile(
    r"^(?:(?:all )?(?:of )?(?:this|that|it|these|those)(?: (?:please|one|message|conversation|part))?|questo|quello"
    r"|ciò|esto|eso|ça|cela|ceci|das|dies(?:es)?|isso|isto|这个?|这些|それ|これ|это"
    r"|what i (?:just )?(?:said|told you|wrote)|(?:my|the) last (?:message|sentence))\W*$",
    re.IGNORECASE,
)

_DISMISSAL = re.compile(
    r"^(?:about )?(?:everything|all(?: of (?:it|that))?|anything|me|us|tutto|me|todo|tout|moi|alles|mich|tudo|mim"
    r"|вс[её]|меня"
    r"|一切|所有|全部|すべて|전부|모두)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Instruction:
    """What is asked.

    Attributes:
        kind: `remember` (also standing instructions), `forget`, or `ignore`: not to be kept in the first place.
        what: what it is about, in the user's words; empty where it points at what was said around it.
    """

    kind: Literal["remember", "forget", "ignore"]
    what: str


def instruction(sentence: str, lexicon: Language) -> Instruction | None:
    """The instruction that a sentence gives, or None."""
    if sentence.rstrip().endswith(("?", "？")) and not _is_polite(sentence, lexicon):
        return None
    plain = sentence.rstrip("?？ ")
    match = lexicon.ignore.search(plain)
    if match:
        return Instruction("ignore", _named(group(match, "what"), lexicon))
    match = lexicon.forget.search(plain)
    if match and not re.match(r"(?:\w+ )?to \w", group(match, "what")):
        return Instruction("forget", _named(group(match, "what"), lexicon))
    match = lexicon.remember.search(plain)
    if match:
        what = _kept(group(match, "what"), lexicon)
        return Instruction("remember", what) if what else None
    if lexicon.standing.search(plain):
        return Instruction("remember", _kept(plain, lexicon))
    return None


def is_everything(what: str, lexicon: Language) -> bool:
    """Whether a request to forget means all there is."""
    return bool(lexicon.forget_all.search(what.rstrip(".!。！ ")))


def is_dismissal(what: str) -> bool:
    """Whether what is to be forgotten is the talk so far rather than what is known: "forget me, I want to …"."""
    return bool(_DISMISSAL.match(what.strip(" .!。！,，")))


def _is_polite(sentence: str, lexicon: Language) -> bool:
    """Tells "Could you forget my age?" (asks for the deed) from "Do you remember my age?"."""
    return bool(
        re.match(
            r"(?:and |ok,? )?(?:can|could|would|will) you|^(?:puoi|potresti|puedes|podrías|peux-tu|pourrais-tu"
            r"|kannst du|könntest du|pode|podes|poderia)\b",
            sentence,
            re.IGNORECASE,
        )
    ) and bool(lexicon.remember.search(sentence.rstrip("?")) or lexicon.forget.search(sentence.rstrip("?")))


def _named(what: str, lexicon: Language) -> str:
    what = what.strip(" .!。！,，:;\"'“”«»")
    what = re.sub(r",? (?:please|per favore|por favor|bitte|s['’]il te plaît)$", "", what, flags=re.IGNORECASE)
    if _POINTER.match(what):
        return ""
    if is_everything(what, lexicon):
        return what
    shorter = _SAID.sub("", what)
    if shorter != what:
        shorter = _SAID_TAIL.sub("", shorter)
    shorter = (
        _SAID_TAIL.sub("", shorter) if shorter.endswith(("について", "的事", "的事情", "的信息", "的内容")) else shorter
    )
    return _ABOUT.sub("", shorter).strip() or what


def _kept(what: str, lexicon: Language) -> str:
    what = what.strip(' "“”«»')
    if not any(sign.isalnum() for sign in what) or _POINTER.match(what):
        return ""
    if lexicon.code == "de":
        # A German clause with "dass" has its verb at the end; on its own the verb comes second.
        turned = _CLAUSE_LAST.match(what.rstrip(".! "))
        if turned and not re.match(r"(?:bin|habe|wohne|arbeite|mag|esse|lebe|heiße|will|kann|sind|haben)\b", turned[2]):
            what = f"{turned[1]} {turned[3]} {turned[2]}."
    return what[:1].upper() + what[1:] if lexicon.spaced else what
