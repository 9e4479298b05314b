"""The conversations that say what should be kept: their format, their files, and the figures made of them."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from tests.benchmarks.gold import FOLDER, HALVES, LANGUAGES, NOTHING, Conversation, Terms, parse, read
from tests.benchmarks.offline import arguments
from tests.benchmarks.scores import Kept, Share, names_date, score, total

MOVED = """
## en-moved | update, repeat, forget
@ 2026-01-10T17:30
u: I live in Austin and play the cello
a: Lovely.
u: I have diabetes, and my sister Aoife marries in Galway
@ 2026-06-20T19:02
u: we moved to Denver, I play the cello, forget my diabetes
u: tomorrow I fly to Lisbon

+ P lives in Denver :: denver :: replaces=austin
+ P/R plays the cello :: cello/violoncello :: once
+ P Aoife marries in Galway :: aoife ; galway/marr
+ K flies to Lisbon :: lisbon :: date=2026-06-21
! diabet
"""
FILES = [path for half in HALVES for path in sorted((FOLDER / half).glob("*.txt"))]


def moved() -> Conversation:
    (talk,) = parse(MOVED.splitlines())
    return talk


def shares(*facts: str, earlier: tuple[str, ...] = ()) -> dict[str, tuple[int, int]]:
    kept, before = [Kept(fact, ["USER_PERSONAL_INFO"]) for fact in facts], [Kept(fact) for fact in earlier]
    return {name: (one.right, one.of) for name, one in score(moved(), kept, earlier=[before]).shares.items()}


def test_a_conversation_is_read() -> None:
    talk = moved()
    assert (talk.id, talk.language, talk.kinds, talk.empty) == ("en-moved", "en", ("update", "repeat", "forget"), False)
    assert [len(turns) for _, turns in talk.sessions] == [3, 2]
    assert talk.facts[1].topics == ("USER_PERSONAL_INFO", "USER_PREFERENCES")
    assert [fact.once for fact in talk.facts] == [False, True, False, False]
    assert talk.facts[0].replaces == Terms((("austin",),))
    assert talk.facts[2].terms == Terms((("aoife",), ("galway", "marr")))
    assert talk.facts[3].date == "2026-06-21"
    first, second = talk.as_adk()
    assert [event.author for event in first.events] == ["user", "agent", "user"]
    assert second.events[1].timestamp - second.events[0].timestamp == 10
    assert len({event.id for event in [*first.events, *second.events]}) == 5


@pytest.mark.parametrize(
    "lines",
    [
        "u: nobody's",
        "## en-a | plain\nu: before any session",
        "## en-a | plain\n@ yesterday",
        "## en-a | plain\n@ 2026-01-01T10:00\nx: who",
        "## en-a | plain\n@ 2026-01-01T10:00\nu:",
        "## en-a | plain\n@ 2026-01-01T10:00\nu: hi\n+ P no terms",
        "## en-a | plain\n@ 2026-01-01T10:00\nu: hi\n+ Q hi :: hi",
        "## en-a | plain\n@ 2026-01-01T10:00\nu: hi\n+ P hi :: hi ;",
        "## en-a | plain\n@ 2026-01-01T10:00\nu: hi\n+ P hi :: hi :: date=soon",
        "## en-a | plain\n@ 2026-01-01T10:00\nu: hi\n+ P hi :: hi :: twice",
        "## en-a | plain\n@ 2026-01-01T10:00\n+ P hi :: hi",
        "## en-a | plain\n@ 2026-01-01T10:00\nu: hi",
        "## en-a | none\n@ 2026-01-01T10:00\nu: hi\n+ P hi :: hi",
    ],
)
def test_what_is_not_in_the_format_is_refused(lines: str) -> None:
    with pytest.raises(ValueError, match="text:"):
        parse(lines.splitlines())


def test_terms_are_found_in_any_case_and_within_words_and_numbers_whole() -> None:
    assert Terms.read("allerg ; NÜSSE/nuts").within("Schwere Nussallergie, keine nüsse")
    assert not Terms.read("allerg ; nuts").within("an allergy")
    assert Terms.read("34").within("is 34, really")
    assert not Terms.read("34").within("born in 1934")
    assert Terms.read("58b12").within("code ５８Ｂ１２")


def test_all_that_was_expected_was_kept() -> None:
    told = shares(
        "Moved from Austin to Denver",
        "Plays the cello",
        "Sister Aoife's wedding is in Galway",
        "Flies to Lisbon on 2026-06-21",
        earlier=("Has diabetes",),
    )
    assert told == {
        "recall": (4, 4),
        "precision": (4, 4),
        "topics": (3, 4),
        "dates": (1, 1),
        "nothing to keep": (0, 0),
        "updates": (1, 1),
        "repeats": (1, 1),
        "deletions": (1, 1),
        "all three": (3, 3),
        "deletions of what was kept": (1, 1),
        "parts": (0, 4),
    }


def test_what_went_wrong_is_told() -> None:
    told = shares(
        "Lives in Austin",
        "Lives in Denver",
        "Plays the cello",
        "Plays the cello in an orchestra",
        "Has a sister Aoife",
        "Flies to Lisbon tomorrow",
        "Has diabetes",
    )
    assert told["recall"] == (2, 4)  # of Aoife only a part, of Lisbon not the day
    assert told["precision"] == (3, 6)  # Denver, the first cello, and Lisbon, whatever its day
    assert told["parts"] == (1, 7)
    assert told["dates"] == (0, 1)
    assert told["updates"] == told["repeats"] == told["deletions"] == (0, 1)
    assert told["deletions of what was kept"] == (0, 0)


def test_a_memory_of_several_facts_is_right_and_counts_for_each() -> None:
    told = shares("Lives in Denver and plays the cello", "Plays the cello, flies to Lisbon on June 21, 2026")
    assert told["recall"] == (3, 4)
    assert told["precision"] == (2, 2)
    assert told["repeats"] == (0, 1)


def test_nothing_kept_is_no_update_and_no_repeat() -> None:
    told = shares()
    assert told["recall"] == (0, 4)
    assert told["precision"] == (0, 0)
    assert told["all three"] == (1, 3)


def test_a_conversation_with_nothing_to_keep() -> None:
    (talk,) = parse(["## en-a | none", "@ 2026-01-01T10:00", "u: hi"])
    assert score(talk, []).shares["nothing to keep"] == Share(1, 1)
    kept = score(talk, [Kept("Says hi")])
    assert kept.shares["nothing to keep"] == Share(0, 1)
    assert kept.shares["precision"] == Share(0, 1)
    assert kept.wrong == ["Says hi"]


@pytest.mark.parametrize(
    ("text", "date", "named"),
    [
        ("flies on 2026-06-21", "2026-06-21", True),
        ("flies on 21 June 2026", "2026-06-21", True),
        ("flies on June 21st, 2026", "2026-06-21", True),
        ("am 21. Juni 2026", "2026-06-21", True),
        ("2026年6月21日に出発", "2026-06-21", True),
        ("flies on 2026-06-20", "2026-06-21", False),
        ("flies on 21 June", "2026-06-21", False),
        ("broke it in 2026-04", "2026-04", True),
        ("broke it in April 2026", "2026-04", True),
        ("lo rompió en abril de 2026", "2026-04", True),
        ("2026年4月に", "2026-04", True),
        ("broke it on 2026-04-13", "2026-04", False),
        ("broke it on 13 April 2026", "2026-04", False),
        ("started in 2025", "2025", True),
        ("room 12025", "2025", False),
    ],
)
def test_dates_are_recognised(text: str, date: str, named: bool) -> None:
    assert names_date(text, date) is named


def test_shares_have_intervals() -> None:
    low, high = Share(8, 10).interval()
    assert (round(low, 3), round(high, 3)) == (0.49, 0.943)
    assert Share(0, 5).interval()[0] == 0
    assert math.isnan(Share().value)
    assert total([{"recall": Share(1, 2)}, {"recall": Share(2, 2)}])["recall"] == Share(3, 4)


def test_held_back_details_need_one_more_word() -> None:
    assert arguments(["--half", "developed", "--details"]).details
    assert arguments(["--half", "held_back", "--details", "--reveal"]).details
    for half in ("held_back", "both"):
        with pytest.raises(SystemExit):
            arguments(["--half", half, "--details"])


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_files_keep_to_the_format(path) -> None:
    assert path.stem in LANGUAGES
    talks = read(path)
    assert talks
    for talk in talks:
        assert talk.language == path.stem, talk.id
        assert talk.kinds, talk.id
        times = [began for began, _ in talk.sessions]
        assert times == sorted(times), talk.id
        terms = [*talk.gone, *(one for fact in talk.facts for one in (fact.terms, fact.replaces) if one)]
        unsaid = [one.groups for one in terms if not one.within(talk.said)]
        assert not unsaid, (talk.id, "not said by the user")
        for fact in talk.facts:
            if fact.replaces:  # or else the older value would pass for the new one
                older = " ".join(term for group in fact.replaces.groups for term in group)
                assert not fact.terms.within(older), (talk.id, fact.text)


def test_ids_are_unique() -> None:
    ids = Counter(talk.id for path in FILES for talk in read(path))
    assert [id for id, count in ids.items() if count > 1] == []


def test_the_held_back_half_is_large_and_varied_enough() -> None:
    talks = [talk for path in FILES if path.parent.name == "held_back" for talk in read(path)]
    assert len(talks) >= 80
    assert sum(NOTHING in talk.kinds for talk in talks) >= 0.3 * len(talks)
    assert sum(len(talk.gone) + sum(fact.once + bool(fact.replaces) for fact in talk.facts) for talk in talks) >= 30
    for language in LANGUAGES:
        own = [talk for talk in talks if talk.language == language]
        assert len(own) >= 9, language
        assert sum(len(talk.facts) for talk in own) >= 30, language
