"""A user's decision lasts, however often the conversation is read again, and by whichever engine."""

import random
from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from memory.librarian import run as librarian
from memory.librarian.engine import Extraction, ExtractionInput
from memory.librarian.rules.engine import RuleEngine
from memory.librarian.run import run_extraction
from memory.models import Fact, LibrarianRun, ReviewAction
from memory.review.decisions import accept, edit, reject
from memory.review.merge import merge
from memory.review.undo import undo
from tests.memory.librarian.conftest import Scripted
from tests.memory.librarian.test_run import ask, say

pytestmark = pytest.mark.usefixtures("queued", "embedded_once")

SAID = (
    "My sister Mary lives in Lisbon and I'm allergic to peanuts.",
    "I think I live in Porto.",
    "Maybe I like jazz.",
    "My friend Tom works as a baker.",
)
OTHER_WORDS = {
    "The user's sister Mary lives in Lisbon.": "The user has a sister called Mary who lives in Lisbon.",
    "The user is allergic to peanuts.": "The user has a peanut allergy.",
    "The user lives in Porto.": "Porto is where the user lives.",
    "The user likes jazz.": "The user enjoys jazz.",
}


def by_rules(reading: ExtractionInput) -> Extraction:
    return RuleEngine().extract(reading)


def in_other_words(reading: ExtractionInput) -> Extraction:
    """Another engine: the same facts in other words, more confident, without keys, and with a longer quote."""
    return Extraction(
        [
            fact.model_copy(
                update={"statement": OTHER_WORDS.get(fact.statement, fact.statement), "confidence": 1.0, "key": ""}
            )
            for fact in RuleEngine().extract(reading).facts
        ]
    )


def boldly(reading: ExtractionInput) -> Extraction:
    """An engine that is certain of everything and corrects known facts."""
    sure = {"confidence": 1.0, "importance": 1.0, "correction": True, "hypothetical": False, "health": False,
            "about_third_party": False}  # fmt: skip
    return Extraction([fact.model_copy(update=sure) for fact in RuleEngine().extract(reading).facts])


ENGINES: tuple[Callable[[ExtractionInput], Extraction], ...] = (by_rules, in_other_words, boldly)


def read_again(
    run: LibrarianRun, does: Callable[[ExtractionInput], Extraction], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(librarian, "choose_engine", lambda: Scripted(does, version=f"{does.__name__}/1"))
    LibrarianRun.objects.filter(pk=run.pk).update(state="pending", attempts=0, not_before=timezone.now())
    run_extraction(run.pk)
    assert LibrarianRun.objects.get(pk=run.pk).state == "done"


def standing(user: User) -> list[tuple[Any, ...]]:
    """The facts a user decided on, in their current state."""
    decided = ReviewAction.objects.filter(undone_at=None).values("fact")
    touched = Fact.objects.for_user(user).filter(pk__in=decided) | Fact.objects.for_user(user).filter(
        superseded_by__in=decided
    )
    return list(touched.order_by("pk").values_list("pk", "statement", "status", "value", "superseded_by"))


@pytest.mark.parametrize("seed", range(12))
def test_every_decision_survives_every_reading(alice: User, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    chance = random.Random(seed)
    run = ask(say(alice, *SAID))
    read_again(run, by_rules, monkeypatch)
    waiting = list(Fact.objects.for_user(alice).filter(status="proposed").order_by("pk"))
    assert len(waiting) >= 4
    chance.shuffle(waiting)
    accept(waiting[0], by=alice)
    reject(waiting[1], by=alice)
    edit(waiting[2], f"{waiting[2].statement[:-1]}, as a person put it.", by=alice)
    if seed % 3 == 0:
        undo(reject(waiting[3], by=alice))
    elif seed % 3 == 1:
        free = [fact for fact in (waiting[0], waiting[3]) if not fact.key]
        if len(free) == 2:
            merge(free, free[0], by=alice)
    before = standing(alice)
    counts = Fact.objects.for_user(alice).filter(status="active").count()
    rejected = set(Fact.objects.for_user(alice).filter(status="rejected").values_list("statement", flat=True))
    for does in chance.choices(ENGINES, k=4):
        read_again(run, does, monkeypatch)
        assert standing(alice) == before, does.__name__
        open_ones = Fact.objects.for_user(alice).filter(status__in=["active", "proposed"])
        live = set(open_ones.values_list("statement", flat=True))
        assert not rejected & live
        assert not {OTHER_WORDS.get(statement) for statement in rejected} & live
    assert Fact.objects.for_user(alice).filter(status="active").count() >= counts


def test_a_merged_statement_does_not_come_back_beside_what_it_was_merged_into(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ask(say(alice, "My friend Tom plays the tuba.", "My friend Tom keeps two goats."))
    read_again(run, by_rules, monkeypatch)
    one, other = Fact.objects.for_user(alice).order_by("pk")
    merge([one, other], one, "The user's friend Tom plays the tuba and keeps goats.", by=alice)
    for does in ENGINES:
        read_again(run, does, monkeypatch)
    live = Fact.objects.for_user(alice).filter(status__in=["active", "proposed"])
    assert list(live.values_list("statement", flat=True)) == ["The user's friend Tom plays the tuba and keeps goats."]


def test_new_words_may_say_again_what_gave_way(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("I live in Lisbon.", "I moved to Porto.", "I moved back to Lisbon."):
        read_again(ask(say(alice, text)), by_rules, monkeypatch)
    live = Fact.objects.for_user(alice).filter(status="active", key="user/home")
    assert [fact.value for fact in live] == ["Lisbon"]
