"""Credentials and numbers that open something: found in what is said, and in what a configuration asks for.

They are kept only where a custom topic or a field of a profile asks for their kind in so many words.
"""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["word", "key", "number"]
"""What one types to be let in (passwords, PINs, codes); keys and tokens; numbers of cards, accounts and persons."""

_SHAPES = re.compile(
    r"-----BEGIN [A-Z ]*(?:PRIVATE KEY|CERTIFICATE)"
    r"|\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])?[A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}"
    r"|\bxox[abprs]-[\w-]{10,}|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{20,}|\bpypi-[\w-]{20,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.?[\w-]*"
    r"|://[^\s:/@]+:[^\s@/]+@"
    r"|\bBearer\s+[\w.~+/-]{16,}"
)
_WORDS = (
    r"pass\s?words?|passphrases?|pass\s?codes?|pwd|passwd|pin(?:[ -]?(?:codes?|numbers?))?|puk|credentials|login"
    r"|security codes?|one[- ]time codes?|otp|2fa codes?|verification codes?|recovery (?:codes?|phrases?)|seed phrases?"
    r"|(?:door|gate|alarm|safe|lock|entry|access|unlock)[ -]?codes?"
    r"|parola d['’]ordine|codic[ei] (?:pin|di sicurezza|segret[oi]|dell['’]allarme|di accesso|della porta)"
    r"|contraseñas?|claves? (?:secretas?|de acceso)|códigos? (?:pin|de seguridad|secretos?|de acceso|de la puerta)"
    r"|mots? de passe|codes? (?:pin|secrets?|de sécurité|d['’]accès|de la porte)"
    r"|passw(?:ort|örter)|kennw(?:ort|örter)|geheimzahl(?:en)?|sicherheitscodes?|zugangscodes?|türcodes?"
    r"|senhas?|palavras?-passe|códigos? (?:de segurança|de acesso|da porta)"
    r"|парол(?:ь|и|я|ей)|пин-?код(?:ы|ов)?"
)
_KEYS = (
    r"api[ _-]?keys?|secret[ _-]?keys?|access[ _-]?keys?|private[ _-]?keys?|client[ _-]?secrets?"
    r"|(?:access|auth|api|bearer|refresh|secret|security)[ _-]?tokens?"
    r"|chiav[ei] (?:api|segret[ae]|privat[ae])|claves? (?:api|privadas?)|clés? (?:api|secrètes?|privées?)"
    r"|(?:api|geheim)-?schlüssel|chaves? (?:api|secretas?|privadas?)|ключи? api"
)
_NUMBERS = (
    r"cvv2?|cvc|(?:credit|debit)[ -]card(?: numbers?)?|card numbers?|account numbers?"
    r"|social security(?: numbers?)?|ssn"
    r"|numer[oi] (?:della|delle|di) cart[ae]|codice fiscale|números? de (?:la )?tarjetas?"
    r"|numéros? de (?:ma )?cartes?|kartennummern?|números? do cartão"
)
_NAMES = rf"{_WORDS}|{_KEYS}|{_NUMBERS}"
_CJK_WORDS = r"密码|密碼|口令|验证码|パスワード|暗証番号|認証コード|비밀번호|암호"
_CJK_KEYS = r"密钥|私钥|令牌|秘密鍵|APIキー|トークン"
_CJK_NUMBERS = r"卡号|银行卡号?|信用卡号|カード番号|카드 ?번호"
_CJK_NAMES = rf"{_CJK_WORDS}|{_CJK_KEYS}|{_CJK_NUMBERS}"
_SAYS = r"(?:\s*(?::|=|->|→)\s*|\s+(?:is|was|are|è|era|sono|es|son|est|sont|ist|sind|lautet|é|são|—|–|-)\s+|['’]s\s+)"
_NO_VALUE = (
    r"(?:too|not|never|weak|strong|safe|secure|wrong|expired|invalid|incorrect|easy|hard|lost|always|very|important"
    r"|required"
    r"|scadut|sbagliat|debole|errat|troppo|caducad|débil|incorrect|faible|expiré|trop|abgelaufen|schwach|falsch"
    r"|zu\b|nicht|fraca|expirou)"
)
_NAMED = re.compile(
    rf"\b(?:{_NAMES})\b[^.!?\n]{{0,40}}?{_SAYS}(?!{_NO_VALUE})\S"
    rf"|\b(?:{_NAMES})\b[^\w\n]{{0,3}}\s?(?=\S*\d)\S{{4,}}"
    rf"|(?:{_CJK_NAMES})[^。\n]{{0,12}}?(?:是|为|：|:|=|は|が|는|은)\s*(?=[^。\s]*[\w])[^。\s]"
    r"|\bPIN\b[^.\n]{0,30}\b\d{4,8}\b",
    re.IGNORECASE,
)
_ASKS_NEXT = re.compile(
    rf"(?:\b(?:{_NAMES})\b|{_CJK_NAMES})[^.!?\n]{{0,30}}?\s*(?:[:：=]|(?:\bis|\bè|\bes|\best|\bist|\bé|是|は))\s*$"
    rf"|^\W*(?:here|this|my|the|ecco|la mia|il mio|mi|aquí|voici|mon|mein|hier|minha|aqui)\b"
    rf"[^.!?\n]{{0,30}}?\b(?:{_NAMES})\W*$",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w])")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b")
_SSN = re.compile(r"(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)")
_OPAQUE = re.compile(r"(?<![\w/@.-])(?=[\w+=-]*[a-z])(?=[\w+=-]*[A-Z])(?=[\w+=-]*\d)[\w+=-]{24,}(?![\w/@.])")
_LONGEST = 2000


_NAME = re.compile(rf"\b(?:{_NAMES})\b|{_CJK_NAMES}", re.IGNORECASE)
_KINDS: dict[Kind, re.Pattern[str]] = {
    "word": re.compile(rf"{_WORDS}|{_CJK_WORDS}", re.IGNORECASE),
    "key": re.compile(rf"{_KEYS}|{_CJK_KEYS}", re.IGNORECASE),
    "number": re.compile(rf"{_NUMBERS}|{_CJK_NUMBERS}", re.IGNORECASE),
}
# In a configuration these name something else as often.
_AMBIGUOUS = frozenset(
    ("login", "credentials", "pin", "credit card", "debit card", "social security", "银行卡", "암호")
)
_OF_THEM = re.compile(
    r"[ -](?:manager|polic|rule|reset|recovery|hygiene|habit|problem|issue|require|strength|quality|length)",
    re.IGNORECASE,
)
_ALSO_ASKED: dict[Kind, re.Pattern[str]] = {
    "word": re.compile(
        r"\b(?-i:PINs?)\b|\bcodes? (?:of|for|to) (?:\w+(?:['’]s)? ){0,3}(?:doors?|gates?|alarms?|safes?|locks?)\b"
        r"|\b(?:login|access|account|wi-?fi) credentials\b",
        re.IGNORECASE,
    ),
    "key": re.compile(r"\b(?:licen[cs]e|encryption|ssh|gpg|pgp)[ -]keys?\b", re.IGNORECASE),
    "number": re.compile(r"\bibans?\b", re.IGNORECASE),
}
_CLAUSE = re.compile(r"[.;!?\n。；！？]")
_REFUSES = re.compile(
    r"\b(?:no|not|never|nor|without|except|excluding|exclude|avoid|omit|ignore|\w+n['’]t|cannot|unless"
    r"|non|mai|senza|tranne|escluse?|sin|nunca|excepto|pas|jamais|sans|sauf|nicht|nie|niemals|keine?|ohne|außer"
    r"|não|sem|exceto|не|без|кроме|никогда)\b"
    r"|不|别|除|ない|以外|除く|제외|않",
    re.IGNORECASE,
)


def kinds_in(text: str) -> frozenset[Kind]:
    """The kinds of secrets that the text gives away."""
    found: set[Kind] = set()
    opaque = False
    for start in range(0, max(1, len(text)), _LONGEST):
        part = text[max(0, start - 100) : start + _LONGEST]
        for match in _NAMED.finditer(part):
            found |= {kind for kind, names in _KINDS.items() if names.search(match[0])}
        for match in _SHAPES.finditer(part):
            found.add("word" if match[0].startswith("://") else "key")
        if any(_luhn(match[0]) for match in _DIGITS.finditer(part)):
            found.add("number")
        if _SSN.search(part) or any(_iban(match[0]) for match in _IBAN.finditer(part)):
            found.add("number")
        opaque = opaque or bool(_OPAQUE.search(part))
    return frozenset(found or {"key"}) if opaque else frozenset(found)


def contains_secret(text: str) -> bool:
    """Whether the text gives away a password, key, token, PIN, card or account number."""
    return bool(kinds_in(text))


def kinds_asked(name: str, description: str) -> frozenset[Kind]:
    """The kinds of secrets that a topic or a field asks for by its name or description; not where it says "no"."""
    label = re.sub(r"[_-]+|(?<=[a-z])(?=[A-Z])", " ", name)
    clauses = [label, *_CLAUSE.split(description)]
    return frozenset(kind for clause in clauses if not _REFUSES.search(clause) for kind in _kinds_named(clause))


def _kinds_named(clause: str) -> set[Kind]:
    found: set[Kind] = {kind for kind, names in _ALSO_ASKED.items() if names.search(clause)}
    for match in _NAME.finditer(clause):
        if match[0].casefold() not in _AMBIGUOUS and not _OF_THEM.match(clause, match.end()):
            found |= {kind for kind, names in _KINDS.items() if names.fullmatch(match[0])}
    return found


def announces_secret(text: str) -> bool:
    """Whether the text ends by naming a secret, so that the next sentence is likely to be it."""
    return bool(_ASKS_NEXT.search(text[-120:].rstrip(" .!")))


def _luhn(text: str) -> bool:
    digits = [int(sign) for sign in text if sign.isdigit()]
    if not 13 <= len(digits) <= 19 or len(set(digits)) == 1:
        return False
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = digit * 2 if place % 2 else digit
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _iban(text: str) -> bool:
    compact = text.replace(" ", "")
    if not 15 <= len(compact) <= 34:
        return False
    return int("".join(str(int(sign, 36)) for sign in compact[4:] + compact[:4])) % 97 == 1
