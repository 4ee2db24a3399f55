"""Simulated users go through the whole product, against the offline server over HTTP."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from chat.evaluation.cases import Probe, Scenario, Session
from chat.evaluation.person import Person, Worker
from chat.evaluation.scenarios import run_scenario
from chat.models import Conversation, Message
from memory.models import Fact
from tests.chat.conftest import Provider

pytestmark = pytest.mark.django_db(transaction=True)

LAST_YEAR = timezone.now() - timedelta(days=365)


@pytest.fixture
def worker(provider: Provider) -> Iterator[Worker]:
    with Worker() as worker:
        yield worker


def test_what_is_said_in_a_session_is_learned_from_and_dated_to_it(worker: Worker) -> None:
    person = Person(worker)
    (reply,) = person.talk(["I live in Lisbon."], LAST_YEAR)
    assert reply.answer
    (fact,) = person.facts(Fact.Status.ACTIVE)
    assert "Lisbon" in fact.statement
    assert abs(fact.recorded_at - LAST_YEAR) < timedelta(minutes=1)
    said = Message.objects.for_user(person.user).filter(role=Message.Role.USER).get()
    assert abs(said.created_at - LAST_YEAR) < timedelta(minutes=1)


def test_a_question_sees_the_memory_and_leaves_no_trace(worker: Worker) -> None:
    person = Person(worker)
    person.talk(["I live in Lisbon."], LAST_YEAR)
    before = Conversation.objects.for_user(person.user).count()
    assert "Lisbon" in person.ask("Where do I live?").prompt
    assert Conversation.objects.for_user(person.user).count() == before


def test_a_run_touches_no_one_else_and_removes_its_user(worker: Worker, bob: Any) -> None:
    Fact.objects.create(user=bob, statement="The user lives in Porto.")
    joined = bob.date_joined
    scenario = Scenario(
        "home-1", "home", (Session(LAST_YEAR, ("I live in Lisbon.",)),), (Probe("Where?", absent=("Porto",)),)
    )
    assert run_scenario(scenario, worker, accept=True).passed
    bob.refresh_from_db()
    assert bob.date_joined == joined
    assert list(Fact.objects.values_list("statement", flat=True)) == ["The user lives in Porto."]
    assert list(Conversation.objects.all()) == []
