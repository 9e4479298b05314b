"""What must not be lost: consolidation and forgetting keep both in doubt."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from adk_memorybank.generation.dates import resolve
from tests.unit.test_offline_consolidation import REPLACED, consolidate, forget, short
from tests.unit.test_offline_extraction import extract, facts

MEMORIES = [
    "I live in Rome.",
    "My favorite food is sushi.",
    "I don't eat pork.",
    "I'm allergic to penicillin.",
    "My sister lives in Oslo.",
    "I work out on Mondays.",
    "I keep my files on a blue disk.",
]


@pytest.mark.parametrize(
    "text",
    [
        "Delete all the files in /tmp.",
        "Drop all tables.",
        "Clear everything on my calendar for Monday.",
        "Discard all changes and start over.",
        "Erase all rows older than 30 days.",
        "Remove everything from the list except milk.",
        "Clear all the filters, please.",
        "Delete my address from the form.",
        "Wipe everything.",
        "Remove my email from the newsletter.",
        "Delete the records that you have.",
        "Clear the memory of the printer.",
        "Erase all my notes about the course.",
        "Cancella tutti i file.",
        "Cancella il mio appuntamento di domani.",
        "Elimina tutto tranne il latte.",
        "Borra todo lo que hay en la carpeta.",
        "Efface tout ce qui est sur la liste.",
        "Lösche alles auf dem Desktop.",
        "Apague tudo da pasta.",
        "删除所有文件。",
        "清除全部数据。",
        "全部のファイルを削除して。",
        "ファイルを全部消して。",
        "모든 파일을 삭제해 줘.",
        "Удали все файлы.",
        "Forget everything except my allergies.",
        "Forget everything I told you today.",
        "Forget everything else, just book the flight.",
        "Forget all the stuff from the demo.",
        "Forget me, I want to talk about my sister.",
        "Forget everything, I want to start with the menu.",
        "Forget everything but my name.",
        "Forget all I said last week.",
        "Forget it all apart from my job.",
        "Dimentica tutto tranne le mie allergie.",
        "Olvida todo excepto mi nombre.",
        "Oublie tout sauf mon prénom.",
        "Vergiss alles außer meinem Namen.",
        "忘记除了名字以外的一切。",
    ],
)
def test_a_request_for_something_else_forgets_nothing(text: str) -> None:
    wishes = [forget(fact.fact) for fact in extract(text) if fact.forget]
    assert consolidate(wishes, MEMORIES) == []


@pytest.mark.parametrize(
    "text",
    [
        "Forget everything.",
        "Please forget everything you know about me.",
        "Forget all about me, please.",
        "Forget everything I told you.",
        "Forget all my data.",
        "Delete all your memories of me.",
        "Delete everything you know about me.",
        "Erase everything from your memory.",
        "Dimentica tutto quello che sai di me.",
        "Olvida todo lo que sabes de mí.",
        "Oublie tout ce que tu sais sur moi.",
        "Vergiss alles, was du über mich weißt.",
        "Esqueça tudo o que você sabe sobre mim.",
        "忘记关于我的一切。",
        "私のことを全部忘れて。",
        "Забудь всё, что ты знаешь обо мне.",
    ],
)
def test_a_request_for_all_forgets_all(text: str) -> None:
    wishes = [forget(fact.fact) for fact in extract(text) if fact.forget]
    decisions = consolidate(wishes, MEMORIES)
    assert [decision.candidate for decision in decisions] == list(range(len(MEMORIES)))


@pytest.mark.parametrize(
    ("what", "gone"),
    [
        ("my food allergy", ["I'm allergic to peanuts."]),
        ("my favorite food", ["My favorite food is sushi."]),
        ("my work email", ["My work email is b@y.org."]),
        ("my email address", ["My email is a@x.org.", "My work email is b@y.org."]),
        ("my sister's job", []),
        ("my old address", []),
        ("my work", ["I work at Initech."]),
        ("la mia allergia al cibo", []),
    ],
)
def test_the_head_of_what_is_named_decides(what: str, gone: list[str]) -> None:
    memories = [
        "My favorite food is sushi.",
        "I don't eat pork.",
        "I'm allergic to penicillin.",
        "I'm allergic to peanuts.",
        "My email is a@x.org.",
        "My work email is b@y.org.",
        "My sister lives in Oslo.",
        "I work out on Mondays.",
        "I work at Initech.",
        "I live in Rome.",
    ]
    decisions = consolidate([forget(what)], memories)
    assert [memories[one.candidate] for one in decisions if one.candidate is not None] == gone


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I'm allergic to penicillin and nuts.", "I'm not allergic to nuts anymore."),
        ("I like jazz and opera.", "I don't like opera anymore."),
        ("I love apples and pears.", "I hate pears."),
        ("I speak Dutch and Finnish.", "I don't speak Finnish anymore."),
        ("I play chess and go.", "I no longer play chess."),
        ("I take aspirin and zinc.", "I don't take zinc anymore."),
        ("I love coffee.", "I don't always love coffee."),
        ("I love coffee.", "I never stopped loving coffee."),
        ("I'm 34, I have two kids and I'm diabetic.", "I'm 35 now."),
        ("I live in Rome with my wife Anna and our two kids.", "I moved to Milan."),
        ("My favorite drink is tea because I'm allergic to coffee.", "My favorite drink is now juice."),
        ("I'm a nurse at Bellevue.", "I've just started at Globex."),
        ("I live in Rome with Anna.", "I live in Rome in a small flat."),
        ("I live in Rome.", "I live in fear of spiders."),
        ("I live in fear of spiders.", "I moved to Milan."),
        ("I live in Rome.", "I live on the third floor."),
        ("I live in Rome.", "I live near the sea."),
        ("I live in Rome.", "I live in Italy."),
        ("I live in Rome.", "I was living in Milan back then."),
        ("I live in Rome.", "I'm living in Milan until June."),
        ("I live in Rome.", "I've moved to a bigger flat."),
        ("i live in rome", "i live in a big flat"),
        ("I work at Initech.", "I work with Anna on the redesign."),
        ("I work at Initech.", "I'm working for hours."),
        ("I work at Initech.", "I work at night."),
        ("I work at Initech.", "I'm a regular at the Blue Bar."),
        ("I work as a waiter.", "I'm a student."),
        ("My name is Ann.", "My name is on the list."),
        ("My name is Ann.", "I'm OK."),
        ("My name is Ann.", "I'm Greek."),
        ("My name is Robert.", "Please call me Bob."),
        ("I'm from Rome.", "I'm from the support team."),
        ("I drive a Fiat.", "I drive a hard bargain."),
        ("My boss is called Tom.", "My boss is Italian."),
        ("My team is Arsenal.", "My team is having a meeting."),
        ("My laptop is a Thinkpad.", "My laptop is broken."),
        ("I'm married.", "I am single-handedly renovating the house."),
        ("I'm single.", "I'm engaged in a long project."),
        ("My goal is to run a marathon.", "My goal is to learn French."),
        ("My email is a@x.org.", "My work email is b@y.org."),
        ("I'm vegan.", "I'm gluten-free."),
        ("I play golf on Mondays.", "I now play tennis on Mondays."),
        ("My daughter is smart.", "My daughter is now tall."),
        ("I work at Initech.", "I also work at Globex."),
        ("Vivo a Roma.", "Vivo in una casa piccola."),
        ("Vivo a Roma.", "Vivo al terzo piano."),
        ("Vivo a Roma con mia moglie Anna.", "Mi sono trasferito a Milano."),
        ("Lavoro per Fiat.", "Lavoro di notte."),
        ("Lavoro alla Fiat.", "Lavoro a Milano."),
        ("Ho 40 anni.", "Ho 30 anni di esperienza."),
        ("Ich wohne in Berlin.", "Ich wohne im dritten Stock."),
        ("Ich wohne in Berlin.", "Ich lebe in Angst."),
        ("Ich arbeite bei Siemens.", "Ich arbeite in München."),
        ("Ich wohne in Berlin.", "Ich wohne in einem kleinen Haus."),
        ("J'habite à Paris.", "J'habite au troisième étage."),
        ("Je travaille chez Renault.", "Je travaille à la maison."),
        ("Vivo en Madrid.", "Vivo en una casa pequeña."),
        ("Trabajo en Seat.", "Trabajo en casa."),
        ("Moro no Porto.", "Moro no terceiro andar."),
        ("我住在北京。", "我住在三楼。"),
        ("我住在北京。", "我住在一间小房子里。"),
        ("我在腾讯工作。", "我在家工作。"),
        ("我在腾讯工作。", "我在晚上工作。"),
        ("私は東京に住んでいます。", "私は三階に住んでいます。"),
        ("私は東京に住んでいます。", "私は小さな家に住んでいます。"),
        ("私は東京に住んでいます。", "姉は大阪に住んでいます。"),
        ("私はトヨタで働いています。", "妻はソニーで働いています。"),
        ("私は30歳です。", "母は60歳です。"),
        ("私は東京に住んでいます。", "田中さんは大阪に住んでいます。"),
        ("저는 서울에 살아요.", "제 언니는 부산에 살아요."),
        ("我住在北京。", "我妈妈住在上海。"),
        ("Vivo a Roma.", "Mia sorella vive a Torino."),
        ("Я живу в Казани.", "Моя сестра живёт в Москве."),
    ],
)
def test_in_doubt_both_are_kept(old: str, new: str) -> None:
    (decision,) = consolidate([new], [old])
    assert (decision.action, decision.fact) == ("create", new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i live in rome", "i moved to milan"),
        ("I live in New York.", "I live in York."),
        ("My work email is b@y.org.", "My work email is c@y.org."),
        ("I'm 34.", "I'm 35 now."),
        ("My favorite drink is tea.", "My favorite drink is now juice."),
        ("I'm allergic to nuts.", "I'm not allergic to nuts anymore."),
        ("I'm single.", "I'm married now."),
        ("姉は大阪に住んでいます。", "姉は京都に引っ越しました。"),
        ("저는 서울에 살아요.", "저는 부산으로 이사했어요."),
        ("Я живу в Казани.", "Я переехала в Москву."),
        ("我叫小明。", "我叫小红。"),
        ("Lavoro per Fiat.", "Lavoro per Ferrari."),
        ("Tengo 30 años.", "Tengo 31 años."),
    ],
)
def test_what_is_unmistakable_replaces(old: str, new: str) -> None:
    assert short(consolidate([new], [old])) == REPLACED


@pytest.mark.parametrize("time", [datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)])
@pytest.mark.parametrize("code", ["en", "it", "es", "fr", "de", "pt", "ja", "zh", "ko", "ru"])
def test_the_edges_of_the_calendar_raise_nothing(time: datetime, code: str) -> None:
    for text in (
        "yesterday tomorrow last week next week last weekend next weekend last month next month last year next year",
        "ten years ago, in ten years, last Friday, next Friday",
        "昨日 明日 先週 来週 先月 来月 去年 来年 昨天 明天 上周 下周 上个月 下个月 明年 어제 내일 지난주 다음 주",
        "вчера завтра в прошлом году в следующем году ieri domani ayer mañana hier demain gestern morgen ontem amanhã",
    ):
        assert isinstance(resolve(text, time, code), str)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("zh", "3000年前"),
        ("zh", "三十年前"),
        ("ja", "3000年前"),
        ("ja", "二十三年前"),
        ("ko", "3000년 전"),
        ("ru", "3000 лет назад"),
        ("ru", "двадцать два года назад"),
        ("en", "twenty two years ago"),
        ("en", "2.5 years ago"),
        ("en", "3000 years ago"),
    ],
)
def test_the_end_of_a_longer_number_is_no_date(code: str, text: str) -> None:
    assert resolve(text, datetime(2023, 5, 8, tzinfo=UTC), code) == text


@pytest.mark.parametrize(
    "text", ["Ok book it for saturday 8pm", "okay send it to my brother", "Great, add my list to it"]
)
def test_an_agreed_order_is_no_fact(text: str) -> None:
    assert facts(text) == []
