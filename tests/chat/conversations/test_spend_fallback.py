"""Once a limit stops spending, rules do the model's work: decided in one place, for token and money limits only."""

from decimal import Decimal

import pytest

from accounts.models import User
from budget.spending.limits import Per, What, set_limit
from chat.conversations.model_choice import must_use_rules
from recall.environment import BASE_DIR

ROOT = BASE_DIR


@pytest.mark.django_db
@pytest.mark.parametrize(("what", "is_left"), [(What.TOKENS, True), (What.MONEY, True), (What.TURNS, False)])
def test_what_is_used_up_is_left_to_the_rules_and_only_of_whoever_used_it(
    alice: User, bob: User, what: What, is_left: bool
) -> None:
    assert not must_use_rules(alice), "without a limit"
    set_limit(alice, what, Per.DAY, Decimal(1_000))
    assert not must_use_rules(alice), "within it"
    set_limit(alice, what, Per.DAY, Decimal(0))
    assert must_use_rules(alice) is is_left
    assert not must_use_rules(bob)


def test_it_is_decided_in_one_place_and_for_memory_in_another() -> None:
    asking = {path.name for path in (ROOT / "chat").rglob("*.py") if "stops_spending" in path.read_text()}
    assert asking == {"model_choice.py", "source.py"}
