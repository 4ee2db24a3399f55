"""Older words that a newer message has changed carry the qualifier that says so; everything else is untouched."""

from datetime import UTC, datetime, timedelta

import pytest

from memory.retrieval.changed import Newer, qualify_changed
from memory.retrieval.ranking import Candidate, Source
from memory.retrieval.truth import CURRENT, WAITING, CandidateRow

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
OFF = (7, "2026-05-01T12:00:00+00:00")
QUALIFIED = "perhaps changed by message:7"


def row(
    text: str,
    changed_by: Newer | None = None,
    *,
    source: Source = "message",
    said_by: str = "user",
    qualifier: str = CURRENT,
    when: datetime = MARCH,
    number: int = 1,
) -> CandidateRow:
    candidate = Candidate(f"{source}:{number}", text, when, None, 1.0, 0.5, 0, source=source)
    return CandidateRow(candidate, number, "", said_by, "", changed_by=changed_by, qualifier=qualifier)


def qualifiers(*rows: CandidateRow) -> list[str]:
    qualify_changed(rows)
    return [one.qualifier for one in rows]


def test_a_changed_message_names_what_was_said_instead() -> None:
    assert qualifiers(row("We fly to Iceland in June", OFF), row("We fly to Rome in May")) == [QUALIFIED, CURRENT]


def test_a_message_that_waits_in_review_can_be_changed_as_well_and_one_that_has_ended_says_so_already() -> None:
    waiting, ended = row("We fly to Iceland", OFF, qualifier=WAITING), row("We fly", OFF, qualifier="until 2026-02-01")
    assert qualifiers(waiting, ended) == [QUALIFIED, "until 2026-02-01"]


@pytest.mark.parametrize("source", ["document", "segment", "episode"])
def test_what_repeats_a_changed_message_is_qualified_with_it(source: Source) -> None:
    said = row("We fly to Iceland in June", OFF)
    digest = row("The user wrote: “We fly to Iceland, in June”", source=source, said_by="")
    other = row("The user flies to Iceland Foods in June", source=source, said_by="")
    later = row("We fly to Iceland in June", source=source, said_by="", when=MARCH + timedelta(days=90))
    assert qualifiers(said, digest, other, later) == [QUALIFIED, QUALIFIED, CURRENT, CURRENT]


def test_what_repeats_both_messages_is_left_as_it_is() -> None:
    said, newer = row("We fly to Iceland in June", OFF), row("We called off the Iceland trip", number=7)
    both = row("“We fly to Iceland in June”, then “We called off the Iceland trip”", source="document", said_by="")
    assert qualifiers(said, both, newer) == [QUALIFIED, CURRENT, CURRENT]


def test_an_answer_a_fact_and_a_message_in_the_same_words_are_left_alone() -> None:
    said, short = row("We fly to Iceland in June", OFF), row("we fly", OFF)
    answer = row("We fly to Iceland in June", said_by="assistant")
    fact = row("We fly to Iceland in June", source="fact", said_by="")
    again = row("We fly to Iceland in June")
    assert qualifiers(said, short, answer, fact, again)[2:] == [CURRENT] * 3
    assert qualifiers(short, row("Why we fly and why we walk", source="document", said_by=""))[1] == CURRENT
