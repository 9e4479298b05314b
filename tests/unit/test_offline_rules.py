"""The parts of the offline rules: sentences, dates, secrets, languages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from adk_memorybank.generation.dates import resolve
from adk_memorybank.generation.lexicon import CODES, language
from adk_memorybank.generation.secrets import announces_secret, contains_secret
from adk_memorybank.generation.sentences import sentences, unquoted
from adk_memorybank.generation.words import content, detect

MONDAY = datetime(2023, 5, 8, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I saw Dr. Smith. He is kind!", ["I saw Dr. Smith.", "He is kind!"]),
        ("It costs 3.50 euros. ok", ["It costs 3.50 euros.", "ok"]),
        ("one\n- two\n2) three", ["one", "two", "three"]),
        ("我住在北京。我喜欢茶！", ["我住在北京。", "我喜欢茶！"]),
        ("i live in rome. my dog is rex", ["i live in rome.", "my dog is rex"]),
        ("Am 3. Mai komme ich. Gut.", ["Am 3. Mai komme ich.", "Gut."]),
        ("I'm 34. My sister is 30.", ["I'm 34.", "My sister is 30."]),
        ("  \n 🎉 ", []),
    ],
)
def test_sentences(text: str, pieces: list[str]) -> None:
    assert list(sentences(text)) == pieces


def test_what_recall_put_in_is_no_text_of_the_user() -> None:
    text = "Hi <PAST_CONVERSATIONS> I live in Oslo </PAST_CONVERSATIONS> I like tea"
    assert "Oslo" not in unquoted(text)
    assert "tea" in unquoted(text)
    assert "Oslo" not in unquoted("İ <past_conversations> Oslo </past_conversations>")


@pytest.mark.parametrize(
    ("code", "text", "dated"),
    [
        ("en", "I went there yesterday.", "I went there yesterday (2023-05-07)."),
        ("en", "We met the day before yesterday", "We met the day before yesterday (2023-05-06)"),
        ("en", "I leave tomorrow", "I leave tomorrow (2023-05-09)"),
        ("en", "It was three days ago", "It was three days ago (2023-05-05)"),
        ("en", "It was a couple of days ago", "It was a couple of days ago (2023-05-06)"),
        ("en", "It was last Friday", "It was last Friday (2023-05-05)"),
        ("en", "It was last Monday", "It was last Monday (2023-05-01)"),
        ("en", "See me next Friday", "See me next Friday (2023-05-12)"),
        ("en", "I had lunch with Tom on Friday", "I had lunch with Tom on Friday (2023-05-05)"),
        ("en", "I am excited to see Ann on Friday", "I am excited to see Ann on Friday (2023-05-12)"),
        ("en", "I play chess on Friday nights", "I play chess on Friday nights"),
        ("en", "We moved last week", "We moved last week (in the week of 2023-05-01)"),
        ("en", "We moved two weeks ago", "We moved two weeks ago (in the week of 2023-04-24)"),
        ("en", "We moved last month", "We moved last month (April 2023)"),
        ("en", "I retire in eight months", "I retire in eight months (January 2024)"),
        ("en", "We met two years ago", "We met two years ago (2021)"),
        ("en", "I read the book in two days", "I read the book in two days"),
        ("en", "It was yesterday (2023-05-01)", "It was yesterday (2023-05-01)"),
        ("en", "I may go so I am 30", "I may go so I am 30"),
        ("it", "Ieri sono uscito", "Ieri (2023-05-07) sono uscito"),
        ("it", "Arrivo venerdì prossimo", "Arrivo venerdì prossimo (2023-05-12)"),
        ("it", "Due settimane fa", "Due settimane fa (2023-04-24/2023-04-30)"),
        ("es", "Pasado mañana viajo", "Pasado mañana (2023-05-10) viajo"),
        ("es", "hace tres días", "hace tres días (2023-05-05)"),
        ("es", "por la mañana", "por la mañana"),
        ("fr", "il y a deux jours", "il y a deux jours (2023-05-06)"),
        ("fr", "mardi prochain", "mardi prochain (2023-05-09)"),
        ("de", "vor drei Tagen", "vor drei Tagen (2023-05-05)"),
        ("de", "Ich komme übermorgen", "Ich komme übermorgen (2023-05-10)"),
        ("de", "Guten Morgen", "Guten Morgen"),
        ("pt", "há dois meses", "há dois meses (março 2023)"),
        ("pt", "ontem", "ontem (2023-05-07)"),
        ("ja", "昨日行きました", "昨日（2023-05-07）行きました"),
        ("ja", "3日前", "3日前（2023-05-05）"),
        ("zh", "下周五去", "下周五（2023-05-19）去"),
        ("zh", "两年前", "两年前（2021年）"),
    ],
)
def test_relative_dates(code: str, text: str, dated: str) -> None:
    assert resolve(text, MONDAY, code) == dated


def test_without_a_time_there_is_no_date() -> None:
    assert resolve("I went yesterday", None, "en") == "I went yesterday"


@pytest.mark.parametrize(
    "text",
    [
        "My password is sunflower",
        "the wifi password at home is sunflower",
        "api_key=abc123def456",
        "Use sk-proj-abcdEFGH1234567890abcd",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "My card is 4111 1111 1111 1111",
        "My PIN is 4821",
        "IBAN DE89 3704 0044 0532 0130 00",
        "-----BEGIN RSA PRIVATE KEY-----",
        "postgres://me:hunter2@db.example.com",
        "La mia password è girasole",
        "Mi contraseña es girasol",
        "Mon mot de passe est tournesol",
        "Mein Passwort lautet Sonne",
        "Minha senha é girassol",
        "我的密码是abc123",
        "パスワードはhimawariです",
        "비밀번호는 abc123",
        "Мой пароль: солнце",
    ],
)
def test_secrets(text: str) -> None:
    assert contains_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "I forgot my password yesterday.",
        "My password is too weak.",
        "I use a password manager.",
        "My phone number is +39 333 1234567.",
        "Order 4111 1111 1111 1112 arrived",
        "I live at number 4821",
        "I was born on 1990-04-12.",
        "I like pins and needles",
    ],
)
def test_no_secrets(text: str) -> None:
    assert not contains_secret(text)


def test_a_secret_may_follow_in_the_next_sentence() -> None:
    assert announces_secret("Here's my password:")
    assert not announces_secret("I forgot my password.")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("I live in Rome", "en"),
        ("Vivo a Roma", "it"),
        ("Me gusta el té", "es"),
        ("J'habite à Lyon", "fr"),
        ("Ich heiße Tom", "de"),
        ("Moro no Porto", "pt"),
        ("我住在北京", "zh"),
        ("東京に住んでいます", "ja"),
        ("저는 서울에 살아요", "ko"),
        ("Я живу в Казани", "ru"),
        ("12345", "en"),
    ],
)
def test_the_language_is_told(text: str, code: str) -> None:
    assert detect(text) == code


@pytest.mark.parametrize("code", CODES)
def test_each_language_loads(code: str) -> None:
    assert language(code).code == code
    assert language("xx").code == "en"


def test_words_that_say_the_same() -> None:
    english = language("en")
    assert content("I really love hiking!", english) == content("I enjoy hiking", english)
    assert content("I like tea", english) != content("I like coffee", english)
