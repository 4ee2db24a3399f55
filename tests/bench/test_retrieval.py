"""`bench.retrieval` filters for a fifth of what can be filtered."""

from typing import Any

import pytest
from django.utils import timezone

from bench.retrieval.__main__ import FIFTH_OF_TIME, KIND, PROJECT, filtered, mark_filtered
from chat.models import Conversation
from memory.models import Fact


@pytest.mark.django_db
def test_a_fifth_of_what_can_be_filtered_is_marked_once(alice: Any) -> None:
    for _ in range(60):
        Conversation.objects.create(user=alice)
    for number in range(50):
        Fact.objects.create(user=alice, statement=f"Fact {number}", status="active")

    for _ in range(2):
        mark_filtered([alice])

    assert 3 <= Conversation.objects.filter(scope=PROJECT).count() <= 25
    assert Fact.objects.filter(kind=KIND).count() == 10
    only = filtered()
    assert only["a project"].scope == PROJECT
    assert only["a kind"].kinds == {KIND}
    since, until = only["dates"].since, only["dates"].until
    assert since is not None
    assert until == since + FIFTH_OF_TIME < timezone.now()
