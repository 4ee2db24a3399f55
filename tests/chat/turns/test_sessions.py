"""From one session to the next, through the whole product: turns, librarian and the demo model over HTTP."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from chat.evaluation.person import Person, Worker
from tests.chat.conftest import Provider

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def person(provider: Provider) -> Iterator[Person]:
    with Worker() as worker:
        yield Person(worker)


def yesterday(person: Person, *said: str) -> None:
    person.talk(said, timezone.now() - timedelta(days=1))


def test_a_new_session_starts_with_what_was_left_open(person: Person) -> None:
    yesterday(person, "Hello!", "The talk on bees has to be ready for the fair.")

    assert "bees" in person.ask("Hi, me again").answer
    assert "bees" not in person.ask("What is the capital of Mongolia?").prompt


def test_the_clock_follows_the_home_that_was_learned(person: Person) -> None:
    yesterday(person, "I live in Tokyo.")

    assert "Asia/Tokyo" in person.ask("What time is it?").answer


def test_what_was_asked_to_be_forgotten_is_used_no_more_in_the_next_session(person: Person) -> None:
    yesterday(person, "I collect stamps from Peru.", "I live in Tokyo.")
    assert "stamps" in person.ask("What do I collect?").answer

    (reply,) = person.talk(["Please forget that I collect stamps"], timezone.now() - timedelta(hours=2))

    assert "Forget button under your message" in reply.answer
    later = person.ask("What do I collect?")
    assert "stamps" not in later.prompt + later.answer
    assert "Tokyo" in person.ask("Where do I live?").answer
