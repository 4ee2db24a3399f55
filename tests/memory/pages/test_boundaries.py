"""Boundaries: for everybody or one person, in every prompt, never cut, shown; and an installation starts with some."""

from importlib import import_module
from typing import Any

import pytest

from accounts.models import User
from budget.planning.fit import PRUNING_ORDER
from budget.planning.plan import Section
from chat.models import Conversation
from memory.models import Boundary
from tests.chat.prompt.test_cache_layout import turns

pytestmark = pytest.mark.usefixtures("queued")

STARTING = import_module("memory.migrations.0001_squashed_0012_words_of_one_person").STARTING
REWORDED = import_module("memory.migrations.0020_plain_boundary")


def system_of(user: User) -> list[str]:
    """The system blocks of the next request."""
    conversation: Conversation = Conversation.objects.create(user=user)
    (compiled,) = turns(conversation, 1)
    return [block["text"] for block in compiled.request["system"]]


@pytest.mark.parametrize("about", ["danger", "despair", "emergency", "crisis line", "diagnosis", "doctor", "weakness"])
def test_an_installation_starts_with_wellbeing_boundaries(db: None, about: str) -> None:
    assert any(about in boundary.text for boundary in Boundary.objects.global_ones())


def test_the_starting_ones_dont_call_their_reader_the_person(db: None) -> None:
    texts = [boundary.text for boundary in Boundary.objects.global_ones()]
    assert REWORDED.AFTER in texts
    assert not any("the person" in text for text in texts)


def test_they_stand_in_the_prompt_the_global_ones_in_the_block_that_all_share(alice: User, bob: User) -> None:
    Boundary.objects.create(user=alice, text="No jokes about spiders.")
    shared, personal = system_of(alice)
    assert all(text in shared for text in (REWORDED.AFTER, *STARTING[1:]))
    assert "No jokes about spiders." in personal
    assert "spiders" not in shared
    assert "spiders" not in "".join(system_of(bob))


def test_a_change_counts_from_the_next_turn_on_and_one_that_is_off_is_in_no_prompt(alice: User) -> None:
    Boundary.objects.update(active=False)
    Boundary.objects.create(text="Be kind.")
    own = Boundary.objects.create(user=alice, text="No talk of money.")
    assert "Be kind." in "".join(system_of(alice))
    Boundary.objects.filter(pk=own.pk).update(text="Money only when I ask.")
    told = "".join(system_of(alice))
    assert "Money only when I ask." in told
    assert "No talk of money." not in told
    assert not any(text in told for text in (REWORDED.AFTER, *STARTING[1:]))


def test_they_are_never_cut() -> None:
    assert Section.BOUNDARIES not in {step.section for step in PRUNING_ORDER}


def test_staff_change_them_in_the_admin(charlie: User, sign_in: Any) -> None:
    charlie.is_superuser = True
    charlie.save()
    client = sign_in(charlie)
    client.post("/admin/memory/boundary/add/", {"text": "Be kind.", "active": "on"})
    assert Boundary.objects.global_ones().filter(text="Be kind.").exists()


def test_a_person_sees_those_that_hold_for_them(alice: User, bob: User, sign_in: Any) -> None:
    Boundary.objects.create(user=alice, text="No jokes about spiders.")
    Boundary.objects.create(user=bob, text="No jokes about snakes.")
    page = sign_in(alice).get("/memory/about").content.decode()
    assert "point to local emergency services" in page
    assert "spiders" in page
    assert "snakes" not in page
