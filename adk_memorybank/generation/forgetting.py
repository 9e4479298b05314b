"""Which memories a request to forget names."""

from __future__ import annotations

import re
from dataclasses import dataclass

from adk_memorybank.generation.attributes import Claim, Profile, profile, same_subject, same_value
from adk_memorybank.generation.instructions import is_everything
from adk_memorybank.generation.lexicon import Language, language
from adk_memorybank.generation.words import content, stem, tokens, verbs

_PASSING_MENTION = 3
_LIMITED = re.compile(
    r"\b(?:except|but|apart from|other than|besides|unless|only|else|aside from|excluding"
    r"|tranne|eccetto|salvo|a parte|altro|excepto|menos|salvo|aparte|demás|sauf|excepté|à part|autre|reste"
    r"|außer|ausgenommen|andere|übrige|exceto|tirando|resto|кроме|остальное)\b|除了|除外|以外|其他|其它|ほか|他の|제외|빼고"
    r"|^(?:everything |all |anything )?(?:(?:from|of|since|until|before) )?(?:today|yesterday|tonight|earlier|before"
    r"|so far|just now|recently|(?:last|this|the last|the past) (?:\w+ )?(?:day|week|weekend|month|year|night|morning"
    r"|hour|session|time|conversation|chat|message)s?)$",
    re.IGNORECASE,
)
_DATED = re.compile(
    r"\b(?:today|yesterday|tonight|this (?:morning|week|month)|last (?:\w+)|oggi|ieri|hoy|ayer|aujourd['’]hui|hier"
    r"|heute|gestern|hoje|ontem|сегодня|вчера)\W*$|今天|昨天|今日|昨日|오늘|어제",
    re.IGNORECASE,
)
_FAVOURITE = re.compile(
    r"\bfavou?rites?\b|\bpr[eé]f[eé]r[a-zé]+\b|\bpreferid[oa]s?\b|\bfavorit[oa]s?\b|最喜欢的?|最爱的?|好きな",
    re.IGNORECASE,
)
_ONE_NOUN = re.compile(
    r"\b(?P<of>e-?mail|home|postal|phone|mobile|telephone|job) (?P<what>address(?:es)?|numbers?|titles?)\b",
    re.IGNORECASE,
)
_FOODS = frozenset(
    "peanut nut hazelnut walnut almond cashew milk egg gluten wheat soy fish shellfish shrimp prawn crab lobster "
    "seafood dairy lactose cheese sesame strawberry kiwi celery tomato banana apple mustard mushroom garlic onion"
    " chocolate".split()
)
_HEAD_LAST = frozenset(("en", "de", "zh", "ja", "ko"))
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
        limited: it leaves something out, or means what was said at some time: of which nothing is known here.
    """

    spoken: Profile
    everything: bool
    claims: tuple[Claim, ...]
    attributes: frozenset[str]
    nouns: frozenset[str]
    words: frozenset[str]
    limited: bool = False

    @classmethod
    def read(cls, what: str) -> Request:
        """Takes apart what is to be forgotten, in the user's words."""
        spoken = profile(what)
        lexicon = language(spoken.code)
        if _LIMITED.search(what) or (_DATED.search(what) and not spoken.claims):
            return cls(spoken, False, (), frozenset(), frozenset(), frozenset(), limited=True)
        said, what = what, _ONE_NOUN.sub(_one_noun, what)
        named = _heads(what, lexicon)
        attributes = frozenset(
            attribute for noun in named for attribute in _GROUPS.get(lexicon.nouns[noun], {lexicon.nouns[noun]})
        )
        rest = what
        for noun in named:
            rest = re.sub(
                rf"\b{re.escape(noun)}\b" if lexicon.spaced else re.escape(noun), " ", rest, flags=re.IGNORECASE
            )
        words = frozenset(word for word in content(rest, lexicon) if word not in _VAGUE)
        if _FAVOURITE.search(what):
            words |= frozenset(stem(noun, lexicon.code) for noun in named)
            words -= content(" ".join(_FAVOURITE.findall(what)), lexicon)
            named, attributes = [], frozenset(("favourite",))
        if spoken.names:
            words = frozenset(word for word in words if not _RELATED.match(word)) or words
        nouns = frozenset(stem(noun, lexicon.code) for noun in named)
        return cls(spoken, is_everything(said, lexicon), spoken.claims, attributes, nouns, words)

    @property
    def is_understood(self) -> bool:
        """Whether nothing is left for nearness of meaning to find out."""
        return self.everything or self.limited or bool(self.claims or self.attributes)

    def means(self, memory: Profile, claims: tuple[Claim, ...]) -> bool:
        """Whether the memory is surely among what is to be forgotten.

        Args:
            claims: all that the memory claims.
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
        if self.attributes:
            held = [claim for claim in claims if claim.attribute.split(":")[0] in self.attributes]
            if not self.words:
                return memory.subject[0] == "user" and bool(held)
            if self.words == frozenset(("food",)) and self.attributes == frozenset(("allergy",)):
                return bool(held) and all(claim.value <= _FOODS for claim in held)
            return bool(held) and (self.words - {"food"} or self.words) <= memory.words
        wanted = self.words
        if not wanted:
            return False
        if self.spoken.negated and not memory.negated:
            return False
        if wanted <= memory.words or (
            self.spoken.core and self.spoken.core <= memory.core and len(self.spoken.core) > 1
        ):
            # One word that a long statement mentions in passing does not make it one about that.
            return len(wanted - verbs(memory.code)) > 1 or len(memory.words - wanted) <= _PASSING_MENTION
        return False


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


def _one_noun(match: re.Match[str]) -> str:
    """Two nouns that name one attribute: an email address is an email, a phone number a phone."""
    return "address" if match["of"].casefold() in ("home", "postal") else match["of"]


def _heads(what: str, lexicon: Language) -> list[str]:
    """Of the nouns that name attributes the one that is asked for; the others only say which: my food allergy."""
    front = re.split(r"\b(?:of|at|in|for|from)\b", what, maxsplit=1)[0] if lexicon.code == "en" else what
    named = _named(front, lexicon) or _named(what, lexicon)
    if not lexicon.spaced:
        named.sort(key=lambda noun: (what.rindex(noun) + len(noun), len(noun)))
    if not named or re.search(r"\b(?:and|or|e|y|et|und|ou|и)\b|[和と、,]", what):
        return named
    return [named[-1] if lexicon.code in _HEAD_LAST else named[0]]


def _named(what: str, lexicon: Language) -> list[str]:
    if not lexicon.spaced:
        return [noun for noun in lexicon.nouns if noun in what]
    found = [token if lexicon.code == "en" else token.rsplit("'", 1)[-1] for token in tokens(what)]
    return [token.removesuffix("'s") for token in found if token.removesuffix("'s") in lexicon.nouns]
