"""Older words that newer ones deny carry the qualifier that says so; everything else is untouched."""

from datetime import UTC, datetime

import pytest

from memory.retrieval.denied import qualify_denied
from memory.retrieval.ranking import Candidate
from memory.retrieval.truth import CURRENT, CandidateRow
from memory.text.denials import Denial, read_denials

MARCH, MAY = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 5, 1, tzinfo=UTC)


def row(number: int, text: str, when: datetime, said_by: str = "user") -> CandidateRow:
    candidate = Candidate(f"message:{number}", text, when, None, 1.0, 0.5, 0, source="message")
    return CandidateRow(candidate, number, "", said_by, "")


def qualifiers(*rows: CandidateRow) -> list[str]:
    qualify_denied(rows)
    return [one.qualifier for one in rows]


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I'm planning a trip to Iceland in June", "We called off the Iceland trip"),
        ("My side project is called Larkspur", "We renamed my project from Larkspur to Wrenbook"),
        ("I live in Nantes", "I don't live in Nantes any more"),
    ],
)
def test_older_words_are_superseded_by_what_denies_them(older: str, newer: str) -> None:
    before, after = qualifiers(row(1, older, MARCH), row(2, newer, MAY))
    assert before == f"superseded by message:2 ({newer})"
    assert after == CURRENT


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("Tom works at Acme", "I left Acme in April"),
        ("I love Iceland moss", "We called off the trip to Rome"),
        ("I never liked Nantes, I don't live in Nantes", "I don't live in Nantes any more"),
    ],
)
def test_what_is_said_of_others_or_denied_itself_stays(other: str, said: str) -> None:
    assert qualifiers(row(1, other, MARCH), row(2, said, MAY))[0] == CURRENT


def test_newer_words_and_assistant_words_are_left_alone() -> None:
    assert qualifiers(row(1, "I live in Nantes", MAY), row(2, "I don't live in Nantes", MARCH))[0] == CURRENT
    said = row(1, "You live in Nantes", MARCH, "assistant")
    assert qualifiers(said, row(2, "I don't live in Nantes any more", MAY))[0] == CURRENT


def test_a_message_that_denies_nothing_is_read_once_and_one_that_denies_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []

    def noted(text: str) -> list[Denial]:
        read.append(text)
        return read_denials(text)

    monkeypatch.setattr("memory.retrieval.denied.read_denials", noted)
    plain, denying = "I made a pear cake from scratch", "I don't live in Nantes any more"
    for _ in range(2):
        qualify_denied([row(1, plain, MARCH), row(2, denying, MAY)])
    assert read.count(plain) == 1
    assert read.count(denying) == 2
