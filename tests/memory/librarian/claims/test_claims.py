"""What a message says of its user is told from what passes and from what it doesn't say."""

from pathlib import Path

import pytest

from memory.librarian.claims.claims import AROUND, JUNK, KEEP, around, worth
from memory.librarian.claims.labeled import LabeledStatement, chances_of, judge, read_statements

UNSEEN = Path(__file__).parents[2] / "data" / "claims_unseen.txt"
"""648 statements of the rules in messages it was not trained on."""


def test_most_that_is_worth_keeping_is_kept_and_most_that_is_not_is_dropped() -> None:
    statements = read_statements(UNSEEN.read_text("utf-8").splitlines())
    told = [(one.label == KEEP, chance >= 0.5) for one, chance in zip(statements, chances_of(statements), strict=True)]

    assert told.count((True, True)) >= 0.7 * sum(wanted for wanted, _ in told)
    assert told.count((True, True)) >= 0.65 * sum(kept for _, kept in told)


@pytest.mark.parametrize(
    ("statement", "message", "is_kept"),
    [
        ("The user is allergic to penicillin.", "I'm allergic to penicillin, what else is there for a throat?", True),
        ("The user's sister Ana lives in Turin.", "my sister Ana lives in Turin, what's the train like", True),
        ("The user mentions a recipe with leeks.", "a recipe with leeks please", False),
    ],
)
def test_what_is_only_asked_for_is_not_worth_keeping(statement: str, message: str, is_kept: bool) -> None:
    assert (worth(statement, message, message) >= 0.5) is is_kept


def test_of_a_long_message_the_words_around_the_quote_are_read() -> None:
    message = f"{'a ' * 500}I row.{' b' * 500}"

    assert around(message, "I row.") == message[1000 - AROUND : 1006 + AROUND]
    assert around("I row.", "I row.") == "I row."


def test_labeled_statements_are_read_below_their_message() -> None:
    lines = ["message: I row, thanks", "k The user rows.", "j The user thanks."]

    assert read_statements(lines) == [
        LabeledStatement("The user rows.", "I row, thanks", KEEP),
        LabeledStatement("The user thanks.", "I row, thanks", JUNK),
    ]
    with pytest.raises(ValueError, match="no line of labeled statements"):
        read_statements(["x The user rows."])
    assert judge(read_statements(lines), [0.9, 0.8], 0.5) == "kept 100.0 % of 1; precision 50.0 %"
