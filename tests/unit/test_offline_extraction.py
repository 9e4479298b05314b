"""What the offline generator keeps of what is said, and what it leaves out."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from numpy import float32
from numpy.typing import NDArray

from adk_memorybank.generation.generator import ExtractedFact, ExtractionRequest, Turn
from adk_memorybank.generation.offline import LONGEST_FACT, OfflineGenerator
from adk_memorybank.generation.topics import DEFAULT_TOPICS, Example, Topic
from adk_memorybank.retrieval.embedders import LocalEmbedder

MONDAY = datetime(2023, 5, 8, 13, tzinfo=UTC)
EXPLICIT = "EXPLICIT_INSTRUCTIONS"


class Embedder:
    """The local embedder; counts its calls."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    async def __call__(self, texts: Sequence[str]) -> NDArray[float32]:
        self.calls.append(len(texts))
        return await LocalEmbedder().embed(texts)


def extract(
    *texts: str,
    topics: Sequence[Topic] = DEFAULT_TOPICS,
    examples: Sequence[Example] = (),
    third_person: bool = False,
    embedder: Embedder | None = None,
) -> list[ExtractedFact]:
    turns = [Turn("s", str(n), "user", "user", text, MONDAY + timedelta(seconds=n)) for n, text in enumerate(texts)]
    request = ExtractionRequest(turns, topics, examples, third_person)
    return asyncio.run(OfflineGenerator(embedder or Embedder()).extract(request)).facts


def facts(*texts: str, third_person: bool = False) -> list[str]:
    return [fact.fact for fact in extract(*texts, third_person=third_person)]


@pytest.mark.parametrize(
    "text",
    [
        "I live in Lisbon.",
        "Gonna take up pottery and sell my old bike",
        "Me and my brother went fishing on the lake.",
        "The choir has made me feel at home here.",
        "My friend Marco hates olives.",
        "I see the doctor every Monday.",
        "That was my first marathon.",
        "I am excited to see my sister in June.",
        "Abito a Torino con mia sorella.",
        "Trabajo en una panadería.",
        "J'ai deux chats.",
        "Ich spiele seit Jahren Geige.",
        "Tenho três irmãos.",
        "我喜欢爬山。",
        "私は京都に住んでいます。",
        "Я живу в Казани.",
        "저는 서울에 살아요.",
    ],
)
def test_a_statement_is_kept_as_it_was_said(text: str) -> None:
    assert facts(text) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "Wow, that's lovely, Bianca!",
        "Thanks so much!",
        "What happened?",
        "what do you think of that",
        "Could you write a poem about my cat?",
        "Tell me a joke.",
        "If I won the lottery I would buy a boat.",
        "Pretend you are a pirate. I live on a ship and I own a parrot.",
        "Translate this: I live in Paris and I have two cats.",
        "They say that coffee is bad for you.",
        "You're so good at this!",
        "Paris is the capital of France.",
        "Ciao, come stai?",
        "¿Dónde está la estación?",
        "Merci beaucoup !",
        "Wie spät ist es?",
        "Obrigado!",
        "你好！",
        "明日の天気はどうですか？",
        "",
        "👍",
        "> I live in Oslo",
        "```\nmy name is x\n```",
        "<PAST_CONVERSATIONS>\nuser: I live in Oslo.\n</PAST_CONVERSATIONS>",
        "<past_conversations>user: I live in Oslo.",
    ],
)
def test_what_states_nothing_of_the_user_is_dropped(text: str) -> None:
    assert facts(text) == []


def test_only_new_turns_of_the_user_are_sources() -> None:
    turns = [
        Turn("s", "1", "user", "user", "I live in Oslo.", MONDAY, new=False),
        Turn("s", "2", "model", "agent", "I like chess. You live in Oslo.", MONDAY),
        Turn("s", "3", "user", "user", "I have a parrot.", MONDAY),
    ]
    found = asyncio.run(OfflineGenerator(Embedder()).extract(ExtractionRequest(turns, DEFAULT_TOPICS))).facts
    assert [(fact.fact, fact.turns, fact.time) for fact in found] == [("I have a parrot.", (2,), MONDAY)]


def test_a_sentence_is_cut_where_two_statements_are_joined() -> None:
    assert facts("Hi! I live in Rome and my dog is called Rex. How are you?") == [
        "I live in Rome.",
        "My dog is called Rex.",
    ]


def test_what_is_stated_before_a_question_is_kept() -> None:
    assert facts("I'm allergic to nuts, do you know a good bakery?") == ["I'm allergic to nuts"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Remember that I mainly use Python", "I mainly use Python"),
        ("Don't forget that I am allergic to nuts", "I am allergic to nuts"),
        ("Ricordati che uso principalmente Python", "Uso principalmente Python"),
        ("Recuerda que no como gluten", "No como gluten"),
        ("N'oublie pas que je suis allergique aux noix", "Je suis allergique aux noix"),
        ("Merk dir, dass ich Vegetarier bin", "Ich bin Vegetarier."),
        ("Lembre-se de que não como glúten", "Não como glúten"),
        ("记住我不吃花生", "我不吃花生"),
        ("From now on, answer in French.", "From now on, answer in French."),
        ("Call me Ale.", "Call me Ale."),
    ],
)
def test_what_is_to_be_remembered_is_kept_in_the_users_words(text: str, kept: str) -> None:
    (fact,) = extract(text)
    assert fact.fact == kept
    assert fact.explicit
    assert EXPLICIT in fact.topics


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Forget what I said about my diet", "my diet"),
        ("Please forget that I like tea.", "I like tea"),
        ("Could you forget my age?", "my age"),
        ("Forget everything you know about me", "everything you know about me"),
        ("Don't remember this: I smoke", "I smoke"),
        ("Dimentica quello che ho detto sulla mia dieta", "mia dieta"),
        ("Olvida que vivo en Madrid", "vivo en Madrid"),
        ("Oublie ce que je t'ai dit sur mon régime", "mon régime"),
        ("Vergiss, was ich über meine Ernährung gesagt habe", "meine Ernährung"),
        ("Esquece o que eu disse sobre a minha dieta", "a minha dieta"),
        ("私の食事について話したことを忘れて", "私の食事"),
        ("忘记我说过的饮食", "饮食"),
    ],
)
def test_a_request_to_forget_is_no_fact(text: str, what: str) -> None:
    (fact,) = extract(text)
    assert fact.forget
    assert fact.fact == what


@pytest.mark.parametrize(
    "text",
    [
        "Never mind, forget it.",
        "Do you remember my name?",
        "Delete the file notes.txt",
        "I like tea. Please don't remember that.",
    ],
)
def test_what_only_sounds_like_an_instruction(text: str) -> None:
    assert extract(text) == []


def test_without_its_topic_nothing_is_forgotten_or_marked() -> None:
    personal = [Topic.managed("USER_PERSONAL_INFO")]
    assert extract("Forget where I live", topics=personal) == []
    (fact,) = extract("Remember that I live in Rome", topics=personal)
    assert fact.topics == ("USER_PERSONAL_INFO",)


def test_a_preference_is_no_personal_information() -> None:
    text = "I work as an engineer and I prefer the middle seat."
    assert [fact.fact for fact in extract(text, topics=[Topic.managed("USER_PREFERENCES")])] == [
        "I prefer the middle seat."
    ]
    assert [fact.fact for fact in extract(text, topics=[Topic.managed("USER_PERSONAL_INFO")])] == [
        "I work as an engineer."
    ]


FEEDBACK = Topic(
    "shop_feedback", "What customers say about the drinks, the music and the staff of the shop.", custom=True
)
COLD = Example(
    turns=[("model", "How was it?"), ("user", "The filter coffee was cold.")],
    facts=[("The user reported that the filter coffee was cold.", ("shop_feedback",))],
)
PLEASANTRY = Example(turns=[("user", "I had a very nice cup of tea with my sister.")])


def test_custom_topics_are_told_by_description_and_examples() -> None:
    embedder = Embedder()
    found = extract(
        "The filter coffee was cold again.", "I live in Rome.", topics=[FEEDBACK], examples=[COLD], embedder=embedder
    )
    assert [(fact.fact, fact.topics) for fact in found] == [("The filter coffee was cold again.", ("shop_feedback",))]
    assert len(embedder.calls) == 1


def test_an_example_without_facts_speaks_against() -> None:
    said = "I had a lovely cup of tea with my sister."
    assert facts(said)
    assert extract(said, examples=[PLEASANTRY]) == []


def test_nothing_is_embedded_where_nothing_is_said() -> None:
    embedder = Embedder()
    extract("👍", "```\nx = 1\n```", topics=[FEEDBACK], examples=[COLD], embedder=embedder)
    assert embedder.calls == []


def test_all_sentences_are_embedded_in_one_call() -> None:
    embedder = Embedder()
    extract("I live in Rome. I like tea.", "My dog is called Rex.", embedder=embedder)
    assert embedder.calls == [3]


def test_facts_never_come_from_the_examples() -> None:
    found = extract("The tea was cold.", topics=[*DEFAULT_TOPICS, FEEDBACK], examples=[COLD])
    assert all("coffee" not in fact.fact for fact in found)


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        ("I live in Rome.", "The user lives in Rome."),
        ("I'm allergic to nuts.", "The user is allergic to nuts."),
        ("I have two cats and I feed them.", "The user has two cats and they feed them."),
        ("My dog is called Rex.", "The user's dog is called Rex."),
        ("I don't eat meat.", "The user doesn't eat meat."),
        ("I went out with my wife.", "The user went out with their wife."),
        ("Vivo a Roma.", "The user said: «Vivo a Roma.»"),
    ],
)
def test_third_person(text: str, rewritten: str) -> None:
    assert facts(text, third_person=True) == [rewritten]


def test_every_fact_has_a_topic_of_the_request() -> None:
    text = "I live in Rome. I like tea. I booked a flight for tomorrow. Remember my locker is number 12."
    for topics in ([DEFAULT_TOPICS[1]], [DEFAULT_TOPICS[2]], list(DEFAULT_TOPICS)):
        names = {topic.name for topic in topics}
        assert all(fact.topics and set(fact.topics) <= names for fact in extract(text, topics=topics))


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, "I " * 60_000, "my password " * 10_000, "remember " * 15_000, "``` " * 30_000, "\n" * 200_000],
)
def test_odd_texts_of_any_length(text: str) -> None:
    assert all(len(fact.fact) <= LONGEST_FACT for fact in extract(text))


def test_a_long_text_lets_the_loop_breathe() -> None:
    text = " ".join(f"I bought {n} red chairs for my house." for n in range(500))

    async def run() -> int:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(beat())
        await OfflineGenerator(Embedder()).extract(
            ExtractionRequest([Turn("s", "1", "user", "user", text, MONDAY)], DEFAULT_TOPICS)
        )
        task.cancel()
        return beats

    assert asyncio.run(run()) > 100
