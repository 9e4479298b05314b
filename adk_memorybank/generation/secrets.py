"""Credentials and numbers that open something are never kept."""

from __future__ import annotations

import re

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
_NAMES = (
    r"pass\s?words?|passphrases?|pass\s?codes?|pwd|passwd|api[ _-]?keys?|secret[ _-]?keys?|access[ _-]?keys?"
    r"|private[ _-]?keys?"
    r"|(?:access|auth|api|bearer|refresh|secret|security)[ _-]?tokens?|client[ _-]?secret|pin(?:[ -]?(?:code"
    r"|number))?|puk|cvv2?|cvc"
    r"|security code|one[- ]time code|otp|2fa code|verification code|recovery (?:code|phrase)|seed phrase"
    r"|(?:door|gate|alarm|safe|lock|entry|access|unlock)[ -]?code|(?:credit|debit)[ -]card(?: number)?|card number"
    r"|account number|social security(?: number)?"
    r"|ssn|credentials|login"
    r"|parola d['’]ordine|chiave (?:api|segreta|privata)|codice (?:pin|di sicurezza|segreto|dell['’]allarme|di accesso)"
    r"|numero (?:della|di) carta|codice fiscale"
    r"|contraseñas?|clave (?:secreta|de acceso|api|privada)|código (?:pin|de seguridad|secreto)|número de (?:la "
    r")?tarjeta"
    r"|mot de passe|mots de passe|clé (?:api|secrète|privée)|code (?:pin|secret|de sécurité|d['’]accès)|numéro de "
    r"(?:ma )?carte"
    r"|passw(?:ort|örter)|kennw(?:ort|örter)|geheimzahl|(?:api|geheim)-?schlüssel|sicherheitscode|kartennummer"
    r"|zugangscode|türcode"
    r"|senhas?|palavra-passe|chave (?:api|secreta|privada)|código (?:de segurança|secreto)|número do cartão"
    r"|пароль|пин-?код|ключ api"
)
_CJK_NAMES = (
    r"密码|密碼|口令|密钥|私钥|令牌|验证码|卡号|银行卡|信用卡号|パスワード|暗証番号|秘密鍵|APIキー|トークン|認証コード|カード番号"
    r"|비밀번호|암호|카드 ?번호"
)
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


def contains_secret(text: str) -> bool:
    """Whether the text gives away a password, key, token, PIN, card or account number."""
    for start in range(0, max(1, len(text)), _LONGEST):
        part = text[max(0, start - 100) : start + _LONGEST]
        if _SHAPES.search(part) or _NAMED.search(part) or _SSN.search(part) or _OPAQUE.search(part):
            return True
        if any(_luhn(match[0]) for match in _DIGITS.finditer(part)):
            return True
        if any(_iban(match[0]) for match in _IBAN.finditer(part)):
            return True
    return False


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
