"""Bob's assistant gets nothing of Alice's with every `for_user` filter taken away: only row-level security stops it."""

from typing import Any

import pytest

from memory.models import Fact
from tests.chat.mcp.test_tools import (
    known,
    test_a_document_is_read_by_its_path,
    test_a_search_finds_ones_own_facts_and_never_anothers,
    test_documents_of_the_profile_are_resources,
    test_past_conversations_are_searched_in_the_same_way,
)

__all__ = [
    "known",
    "test_a_document_is_read_by_its_path",
    "test_a_search_finds_ones_own_facts_and_never_anothers",
    "test_documents_of_the_profile_are_resources",
    "test_past_conversations_are_searched_in_the_same_way",
]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("without_filters")]


@pytest.mark.usefixtures("known")
def test_the_filters_are_gone(alice: Any, bob: Any) -> None:
    assert Fact.objects.for_user(bob).filter(user=alice).exists()
