"""Bob sees nothing of Alice's with every `for_user` filter taken away: row-level security alone stops him."""

from typing import Any

import pytest

from memory.models import Fact
from tests.test_isolation import (
    hers,
    test_bob_cannot_send_into_alices_conversation_over_http,
    test_bob_gets_nothing_and_changes_nothing_of_hers,
    test_bobs_own_pages_show_nothing_of_alices,
    test_bobs_tools_find_nothing_of_alices,
    test_the_model_gets_nothing_of_alices_for_bobs_question,
)

__all__ = [
    "hers",
    "test_bob_cannot_send_into_alices_conversation_over_http",
    "test_bob_gets_nothing_and_changes_nothing_of_hers",
    "test_bobs_own_pages_show_nothing_of_alices",
    "test_bobs_tools_find_nothing_of_alices",
    "test_the_model_gets_nothing_of_alices_for_bobs_question",
]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("without_filters")]


def test_the_filters_are_gone(hers: Any, alice: Any, bob: Any) -> None:
    assert Fact.objects.for_user(bob).filter(user=alice).exists()
