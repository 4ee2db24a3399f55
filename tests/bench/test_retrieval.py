"""`bench.retrieval` filters for a fifth of what can be filtered."""

from typing import Any
from unittest.mock import Mock

import pytest
from django.db import connection
from django.utils import timezone

from bench.retrieval.__main__ import FIFTH_OF_TIME, KIND, PROJECT, filtered, mark_filtered, walled
from chat.models import Conversation
from memory.models import Fact
from recall.db import row_security
from recall.db.acting import Actor, Role, current


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


@pytest.mark.django_db(transaction=True)
def test_the_cost_of_policies_is_that_of_the_same_role_with_and_without_them(
    alice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[Actor, bool]] = []

    def is_behind() -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT relrowsecurity FROM pg_class WHERE oid = 'memory_fact'::regclass")
            return bool(cursor.fetchone()[0])

    monkeypatch.setattr(
        "memory.retrieval.recall.retrieve", Mock(side_effect=lambda *_, **__: asked.append((current(), is_behind())))
    )
    row_security.install()
    walled([alice], iter(["Where?", "When?"]), 2)
    assert {actor for actor, _ in asked} == {Actor(Role.USER, alice.pk)}
    assert [behind for _, behind in asked] == [False, False, True, True, True, True, False, False]
    assert is_behind()
