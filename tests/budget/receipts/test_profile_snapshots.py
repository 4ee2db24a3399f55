"""When a conversation's profile text is renewed, and what the model is told until then."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget.models import ProfileSnapshot
from budget.receipts.profile_snapshots import Line, Reason, changes_since, latest, needs_renewal, pin, pinned_lines
from tests.budget.rows import answer_of

NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
PORTO = Line("fact:1", "The user lives in Porto.", 6)
LISBON = Line("fact:2", "The user lives in Lisbon.", 6)
TEA = Line("document:/profile/preferences:1", "Tea, never coffee.", 5)


@pytest.mark.parametrize(
    ("idle", "compacted", "forgotten", "expected"),
    [
        (timedelta(minutes=5), False, False, None),
        (HOUR - timedelta(seconds=1), False, False, None),
        (HOUR, False, False, Reason.COLD),
        (timedelta(minutes=5), True, False, Reason.COMPACTED),
        (timedelta(minutes=5), False, True, Reason.FORGOTTEN),
        (HOUR, True, True, Reason.FORGOTTEN),
    ],
)
def test_a_snapshot_is_renewed_when_that_costs_nothing_or_something_was_forgotten(
    idle: timedelta, compacted: bool, forgotten: bool, expected: Reason | None
) -> None:
    renewal = needs_renewal(
        ProfileSnapshot(), last_activity=NOW - idle, now=NOW, lifetime=HOUR, compacted=compacted, forgotten=forgotten
    )
    assert renewal is expected


def test_a_new_conversation_gets_its_first_snapshot() -> None:
    assert needs_renewal(None, last_activity=NOW, now=NOW, lifetime=HOUR) is Reason.NEW


@pytest.mark.django_db
def test_a_snapshot_keeps_the_exact_text_and_its_lines(alice: Any) -> None:
    conversation_id = answer_of(alice).conversation_id
    pin(alice, conversation_id, [TEA, PORTO], Reason.NEW)
    found = latest(alice, conversation_id)
    assert found is not None
    assert found.text == "Tea, never coffee.\nThe user lives in Porto."
    assert pinned_lines(found) == [TEA, PORTO]


@pytest.mark.django_db
def test_the_latest_snapshot_is_the_pinned_one_and_nobody_elses(alice: Any, bob: Any) -> None:
    conversation_id = answer_of(alice).conversation_id
    for lines in ([PORTO], [LISBON]):
        pin(alice, conversation_id, lines, Reason.COLD)
    found = latest(alice, conversation_id)
    assert found is not None
    assert pinned_lines(found) == [LISBON]
    assert latest(bob, conversation_id) is None


def test_an_unchanged_profile_has_no_update() -> None:
    assert changes_since([TEA, PORTO], [TEA, PORTO]) == []


def test_a_superseded_fact_is_told_as_gone_and_the_newer_as_new() -> None:
    assert changes_since([TEA, PORTO], [TEA, LISBON]) == [
        "No longer holds: The user lives in Porto.",
        "New: The user lives in Lisbon.",
    ]


def test_a_line_that_only_moved_is_not_told() -> None:
    moved = Line("document:/profile/preferences:2", TEA.text, TEA.tokens)
    above = Line("document:/profile/preferences:1", "Mornings are for work.", 6)
    assert changes_since([TEA], [above, moved]) == ["New: Mornings are for work."]


lines = st.lists(st.builds(Line, st.sampled_from("abc"), st.text(max_size=3), st.just(1)))


@given(lines, lines)
def test_the_update_tells_every_difference_and_nothing_else(pinned: list[Line], current: list[Line]) -> None:
    told = set(changes_since(pinned, current))
    before, after = {line.text for line in pinned}, {line.text for line in current}
    assert told == {f"No longer holds: {t}" for t in before - after} | {f"New: {t}" for t in after - before}
