"""What is deleted after its period, and what stays anyway: figures, what was learned, and everything of other users."""

import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import User
from budget.models import ProfileSnapshot, Receipt, UsageDay
from budget.pages import live
from budget.planning.fit import Cut, Piece
from budget.planning.plan import Section
from budget.planning.what_if import NOT_LISTED, pieces_of, preview
from budget.receipts import memory_cost, memory_use
from budget.receipts.forgetting import answers_using
from budget.receipts.record import TurnOutcome, finalize_receipt
from budget.receipts.retention import REMOVED
from budget.templatetags.figures import cut_reason
from chat import tasks
from chat.conversations import retention, trash
from chat.conversations.retention import What
from chat.models import Attachment, Conversation, Message, Segment
from chat.prompt.ablation import excludable_items
from memory.documents import artifacts, revisions
from memory.forget_epoch import lock_user
from memory.forgetting.execute import forget
from memory.forgetting.execute import preview as would_go
from memory.forgetting.targets import Target
from memory.index.indexer import index_conversation
from memory.models import Chunk, Document, Episode, Fact, Forgetting, LibrarianRun
from recall.schedule import BEAT_SCHEDULE
from tests.budget.rows import PLAN, Figures, answer_of, draft_for
from tests.chat.pages.test_pages import say
from tests.memory.consolidation.test_consolidate import elsewhere

__all__ = ["elsewhere"]  # the fixture: a transaction that another thread holds open

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]
SISTER = "The user's sister Mary lives in Lisbon."
NEAR = "Mary likes tea."
FLOOR = "below the floor"
DAYS = {
    What.CUT: "cut_candidate_retention_days",
    What.RECEIPTS: "receipt_retention_days",
    What.CONVERSATIONS: "message_retention_days",
    What.ARTIFACTS: "artifact_retention_days",
}


@pytest.fixture
def keep(monkeypatch: pytest.MonkeyPatch) -> Callable[[What, int], None]:
    """`keep(What.CUT, 30)` sets the operator's choice."""
    return lambda what, days: monkeypatch.setattr(settings.ENVIRONMENT, DAYS[what], days)


def ago(days: float) -> Any:
    return timezone.now() - timedelta(days=days)


def answered(user: Any, days: float) -> Receipt:
    """The receipt of an answer this many days ago, with something in every section and two cut memories."""
    near = Cut(Piece(Section.MEMORIES, "fact:9", NEAR, 6, score=0.2), FLOOR)
    answer = answer_of(user)
    snapshot = ProfileSnapshot.objects.create(
        user=user, conversation=answer.conversation, text="The user is allergic to peanuts.", reason="new"
    )
    receipt = draft_for(answer, not_taken=(near,), snapshot_id=snapshot.pk)
    receipt.ingredients = {"contents": {"recalled": [SISTER]}, "unlisted": 7}
    receipt.prefix = {"parts": {"system": 900}, "variance": 0.0}
    finalize_receipt(
        receipt, TurnOutcome(Receipt.State.COMPLETE, [Figures(input=300, cache_read=70, output=20)], "In Lisbon.")
    )
    Message.objects.filter(pk=answer.pk).update(status="complete")
    Receipt.objects.filter(message=answer).update(created_at=ago(days))
    ProfileSnapshot.objects.filter(pk=snapshot.pk).update(created_at=ago(days))
    return Receipt.objects.get(message=answer)


def again(receipt: Receipt) -> Receipt:
    found: Receipt = Receipt.objects.get(pk=receipt.pk)
    return found


def listed(receipt: Receipt, *, kept: bool) -> list[str]:
    return [item["label"] for item in again(receipt).items if item["kept"] is kept]


def columns(receipt: Receipt, *but: str) -> dict[str, Any]:
    row = Receipt.objects.filter(pk=receipt.pk).values().get()
    return {name: value for name, value in row.items() if name not in but}


def apply(what: What) -> bool:
    return retention.apply(what, timezone.now())


# What was cut ----------------------------------------------------------------------------------------------------


def test_by_itself_only_what_was_cut_goes_after_90_days() -> None:
    assert {name: type(settings.ENVIRONMENT).model_fields[field].default for name, field in DAYS.items()} == {
        What.CUT: 90, What.RECEIPTS: 0, What.CONVERSATIONS: 0, What.ARTIFACTS: 0,
    }  # fmt: skip
    assert set(retention.PERIODS) == set(What) == set(DAYS)


def test_the_list_of_what_was_cut_goes_and_every_other_column_stays(alice: Any) -> None:
    old, young = answered(alice, 91), answered(alice, 89)
    before, younger, kept = columns(old, "items", "cut_rules", "cut_kept_days"), columns(young), listed(old, kept=True)
    assert sorted(listed(old, kept=False)) == ["A long document", NEAR]

    apply(What.CUT)

    assert listed(old, kept=False) == []
    assert listed(old, kept=True) == kept
    assert columns(old, "items", "cut_rules", "cut_kept_days") == before
    assert again(old).cut_kept_days == 90
    assert again(old).cut_rules == {FLOOR: 1, "memories give way, lowest score first": 1}
    assert columns(young) == younger


def test_done_twice_it_changes_nothing_more_and_for_ever_means_never(alice: Any, keep: Any) -> None:
    old = answered(alice, 400)
    keep(What.CUT, 0)
    assert apply(What.CUT) is False
    assert listed(old, kept=False)
    keep(What.CUT, 30)
    apply(What.CUT)
    first = columns(old)
    keep(What.CUT, 10)
    apply(What.CUT)
    assert columns(old) == first


def test_a_turn_that_is_being_answered_is_left_alone(alice: Any) -> None:
    running = answered(alice, 91)
    Receipt.objects.filter(pk=running.pk).update(state="open")
    apply(What.CUT)
    assert listed(running, kept=False)


def test_a_round_is_bounded_and_the_oldest_go_first(alice: Any, bob: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    receipts = [answered(alice, 100), answered(bob, 120), answered(alice, 110)]
    assert apply(What.CUT) is True
    assert [again(receipt).cut_kept_days for receipt in receipts] == [None, 90, 90]
    assert apply(What.CUT) is False
    assert [again(receipt).cut_kept_days for receipt in receipts] == [90, 90, 90]


def test_the_page_says_in_words_that_the_list_is_gone(alice: Any, sign_in: SignIn) -> None:
    old = answered(alice, 91)
    client = sign_in(alice)
    assert NEAR in client.get(reverse("receipt", args=[old.message_id])).content.decode()
    apply(What.CUT)
    page = client.get(reverse("receipt", args=[old.message_id])).content.decode()
    assert NEAR not in page
    assert "This list was removed after 90 days" in page
    assert f"<dt>{cut_reason(FLOOR)}</dt>" in page
    assert "Mary lives in Lisbon" in page, "what stood in it is told"
    assert client.get(reverse("memory:why", args=[old.message_id, "fact:9"])).status_code == 404


def test_a_prompt_from_which_nothing_was_cut_says_nothing_of_a_list(alice: Any, sign_in: SignIn) -> None:
    old = answered(alice, 91)
    Receipt.objects.filter(pk=old.pk).update(items=[item for item in old.items if item["kept"]])
    apply(What.CUT)
    assert 'id="receipt-cut"' not in sign_in(alice).get(reverse("receipt", args=[old.message_id])).content.decode()


def test_that_keyed_facts_were_cut_is_still_told(alice: Any, sign_in: SignIn) -> None:
    from budget.pages.context_panel import KEYED_FACTS_CUT

    old = answered(alice, 91)
    fact = {**old.items[0], "kept": False, "rule": KEYED_FACTS_CUT}
    Receipt.objects.filter(pk=old.pk).update(items=[*old.items, fact])
    apply(What.CUT)
    assert (
        "key facts from your profile were left out"
        in sign_in(alice).get(f"/receipts/{old.message_id}").content.decode()
    )


def test_what_another_plan_would_do_admits_that_it_cannot_tell_what_would_come_back(alice: Any) -> None:
    old = answered(alice, 91)
    assert NOT_LISTED not in preview(pieces_of(old), PLAN, None).sentence
    apply(What.CUT)
    assert preview(pieces_of(again(old)), PLAN, None).sentence == f"With this budget nothing would change.{NOT_LISTED}"


@pytest.mark.django_db(transaction=True)
def test_it_waits_for_a_forgetting_of_the_same_person(alice: User, bob: User, elsewhere: Any) -> None:
    hers, his = answered(alice, 91), answered(bob, 91)
    elsewhere(lambda: lock_user(alice.pk))
    finished = threading.Event()

    def remove() -> None:
        apply(What.CUT)
        finished.set()
        connection.close()

    thread = threading.Thread(target=remove)
    thread.start()
    assert not finished.wait(0.5)
    assert again(hers).cut_kept_days is None
    elsewhere.end()
    thread.join(20)
    assert (again(hers).cut_kept_days, again(his).cut_kept_days) == (90, 90)


# Receipts --------------------------------------------------------------------------------------------------------


def test_a_receipt_loses_its_words_and_keeps_its_figures(alice: Any, keep: Any) -> None:
    keep(What.RECEIPTS, 30)
    old, young = answered(alice, 31), answered(alice, 29)
    changed = ("items", "ingredients", "cut_rules", "cut_kept_days", "words_kept_days", "snapshot_id")
    before, younger = columns(old, *changed), columns(young)

    apply(What.RECEIPTS)

    left = again(old)
    assert columns(old, *changed) == before
    assert set(listed(old, kept=True)) == {REMOVED}
    assert [{**item, "label": ""} for item in left.items] == [
        {**item, "label": ""} for item in old.items if item["kept"]
    ]
    assert (left.ingredients, left.snapshot, left.words_kept_days, left.cut_kept_days) == (
        {"unlisted": 7},
        None,
        30,
        30,
    )
    assert sum(left.cut_rules.values()) == 2
    assert columns(young) == younger
    assert list(ProfileSnapshot.objects.values_list("pk", flat=True)) == [young.snapshot_id]


def test_what_was_used_and_what_memories_cost_does_not_change(alice: Any, keep: Any) -> None:
    keep(What.RECEIPTS, 3)
    old = answered(alice, 5)
    answered(alice, 1)

    def figures() -> Any:
        latest = live.latest(alice)
        assert latest is not None
        spent, turns = memory_cost.spent_since(alice, ago(30))
        return (
            list(UsageDay.objects.values()),
            sorted(spent, key=lambda one: one.ref),
            turns,
            live.build_live_status(alice, again(old)).lines,
            memory_use.tally(alice, "fact:12"),
        )

    before = figures()
    apply(What.RECEIPTS)
    assert again(old).words_kept_days == 3
    assert figures() == before


def test_lists_that_went_before_keep_the_days_after_which_they_went(alice: Any, keep: Any) -> None:
    keep(What.RECEIPTS, 200)
    old = answered(alice, 201)
    apply(What.CUT)
    rules = again(old).cut_rules
    apply(What.RECEIPTS)
    assert (again(old).cut_kept_days, again(old).words_kept_days, again(old).cut_rules) == (90, 200, rules)


def test_a_pinned_profile_stays_while_a_younger_prompt_was_built_from_it(alice: Any, keep: Any) -> None:
    keep(What.RECEIPTS, 30)
    old, young = answered(alice, 31), answered(alice, 1)
    Receipt.objects.filter(pk=young.pk).update(snapshot=old.snapshot)
    apply(What.RECEIPTS)
    assert ProfileSnapshot.objects.filter(receipts=old).exists()


def test_the_page_of_a_receipt_without_words_says_so_and_offers_nothing_it_cannot_do(
    alice: Any, keep: Any, sign_in: SignIn
) -> None:
    keep(What.RECEIPTS, 30)
    old = answered(alice, 31)
    assert "fact:12" in excludable_items(old)
    apply(What.RECEIPTS)
    client = sign_in(alice)
    page = client.get(reverse("receipt", args=[old.message_id])).content.decode()
    assert "Mary lives in Lisbon" not in page
    assert "was removed after 30 days" in page
    assert "Answer without this" not in page
    assert excludable_items(again(old)) == {}
    assert client.get(reverse("memory:why", args=[old.message_id, "fact:12"])).status_code == 200
    told = client.get(f"/api/v1/budget/receipts/{old.message_id}").json()
    assert (told["words_kept_days"], told["cut_kept_days"], told["unlisted"]) == (30, 30, 7)


def test_forgetting_still_finds_the_answers_that_a_memory_stood_in(alice: Any, bob: Any, keep: Any) -> None:
    keep(What.RECEIPTS, 30)
    fact = Fact.objects.create(user=alice, statement=SISTER, status="active")
    old = answered(alice, 31)
    items = [{**item, "ref": fact.ref if item["ref"] == "fact:12" else item["ref"]} for item in old.items]
    Receipt.objects.filter(pk=old.pk).update(items=items)
    apply(What.RECEIPTS)
    assert answers_using(alice, [fact.ref]) == {old.message_id: True}

    target = Target(Forgetting.What.FACT, str(fact.pk))
    forget(alice, target, by=alice, expected=would_go(alice, target).fingerprint)
    assert Message.objects.get(pk=old.message_id).text == "[forgotten]"


# Conversations ---------------------------------------------------------------------------------------------------


def talk(user: Any, days: float, **fields: Any) -> Conversation:
    """A conversation from this many days ago, with everything that depends on one."""
    made = Conversation.objects.create(user=user, title="Cousins", **fields)
    question = say(made, "My cousin Quillfeather lives in Zanzibar.")
    answer = say(made, "How lovely.")
    index_conversation(made.pk)
    Episode.objects.create(user=user, conversation=made, title="Cousins", summary="Told of a cousin.")
    Segment.objects.create(user=user, conversation=made, number=1, first_turn=1, last_turn=1, text="A summary")
    Attachment.objects.create(user=user, message=question, kind="paste", name="x", media_type="text/plain", size=1,
                              content=b"x", content_hash="0" * 64)  # fmt: skip
    Fact.objects.create(
        user=user, statement="The user's cousin lives in Zanzibar.", quote=question.text, message=question,
        status="active", source="stated", accepted_at=timezone.now(),
    )  # fmt: skip
    artifacts.store_artifact(user, str(made.pk), "web_search 1", "Long.")
    origin = revisions.Origin(Document.Source.LIBRARIAN, f"conversation:{made.pk}")
    revisions.add(user, f"/conversations/{made.pk}", "They spoke of cousins.", "librarian", origin)
    finalize_receipt(draft_for(answer), TurnOutcome(Receipt.State.COMPLETE, [Figures(input=10)], "How lovely."))
    Conversation.objects.filter(pk=made.pk).update(last_activity_at=ago(days))
    return made


def test_a_conversation_goes_as_a_whole_when_it_was_silent_for_so_long(alice: Any, keep: Any) -> None:
    old, young = talk(alice, 31), talk(alice, 29)
    first = Message.objects.filter(conversation=young).earliest("seq")
    Message.objects.filter(pk=first.pk).update(created_at=ago(400))
    apply(What.CONVERSATIONS)
    assert Conversation.objects.count() == 2, "by itself everything is kept"

    keep(What.CONVERSATIONS, 30)
    apply(What.CONVERSATIONS)

    assert list(Conversation.objects.all()) == [young]
    assert Message.objects.filter(pk=first.pk).exists(), "an old message of one that goes on stays"
    for model in (Message, Episode, Segment, Receipt):
        assert not model._default_manager.filter(conversation=old.pk).exists(), model
    assert Chunk.objects.filter(kind="message").exclude(conversation=young).count() == 0
    assert Attachment.objects.count() == 1
    assert {one.path for one in Document.objects.all()} == {
        f"/artifacts/{young.pk}/web_search 1", f"/conversations/{young.pk}",
    }  # fmt: skip


def test_what_was_learned_from_it_stays_with_its_quote_and_what_was_used_stays_counted(alice: Any, keep: Any) -> None:
    old = talk(alice, 31)
    fact, used = Fact.objects.get(), list(UsageDay.objects.values())
    keep(What.CONVERSATIONS, 30)
    apply(What.CONVERSATIONS)
    assert not Conversation.objects.filter(pk=old.pk).exists()
    left = Fact.objects.get()
    assert (left.status, left.statement, left.quote, left.accepted_at) == (
        fact.status, fact.statement, fact.quote, fact.accepted_at,
    )  # fmt: skip
    assert left.message is None
    assert list(UsageDay.objects.values()) == used != []


def test_pinned_and_archived_ones_go_and_what_is_being_worked_on_waits(alice: Any, bob: Any, keep: Any) -> None:
    keep(What.CONVERSATIONS, 30)
    gone = [talk(alice, 31, pinned_at=ago(40)), talk(bob, 31, archived_at=ago(40))]
    unread, answering, failed = talk(alice, 31), talk(alice, 31), talk(alice, 31)
    for one, state in ((unread, "pending"), (failed, "failed")):
        LibrarianRun.objects.create(user=alice, conversation=one, first_seq=1, last_seq=2, trigger="idle", state=state)
    Message.objects.filter(conversation=answering, role="assistant").update(status="streaming")
    apply(What.CONVERSATIONS)
    assert set(Conversation.objects.all()) == {unread, answering}
    assert not Conversation.objects.filter(pk__in=[one.pk for one in (*gone, failed)]).exists()


def test_one_that_answers_just_then_stays(alice: Any) -> None:
    old = talk(alice, 31)
    due = Conversation.objects.filter(pk=old.pk)
    Message.objects.filter(conversation=old, role="assistant").update(status="streaming")
    assert trash.remove(old.pk, due) is None
    assert Conversation.objects.filter(pk=old.pk).exists()


def test_one_in_which_somebody_speaks_just_then_stays(alice: Any, keep: Any) -> None:
    old = talk(alice, 31)
    due = retention.quiet_since(ago(30))
    assert list(due) == [old]
    Conversation.objects.filter(pk=old.pk).update(last_activity_at=timezone.now())
    assert trash.remove(old.pk, due) is None
    assert Conversation.objects.filter(pk=old.pk).exists()


# By the clock, and told ------------------------------------------------------------------------------------------


def test_the_clock_has_each_rule_applied_by_a_task_of_its_own(
    alice: Any, queued: list[Any], monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    assert BEAT_SCHEDULE["remove-what-is-old"]["task"] == tasks.remove_what_is_old.name
    with django_capture_on_commit_callbacks(execute=True):
        tasks.remove_what_is_old()
    assert queued == [(tasks.remove_old.name, (what,)) for what in What]
    queued.clear()
    monkeypatch.setattr(retention, "BATCH", 1)
    old = answered(alice, 91)
    with django_capture_on_commit_callbacks(execute=True):
        tasks.remove_old("cut")
    assert queued == [(tasks.remove_old.name, ("cut",))], "there may be more"
    assert again(old).cut_kept_days == 90
    with django_capture_on_commit_callbacks(execute=True):
        tasks.remove_old("cut")
    assert len(queued) == 1


def test_the_settings_tell_which_periods_hold(alice: Any, keep: Any, sign_in: SignIn) -> None:
    client = sign_in(alice)
    page = client.get(reverse("settings_data")).content.decode()
    assert "The list of what was left out is deleted after 90 days." in page
    assert "without a message" not in page
    keep(What.CONVERSATIONS, 365)
    keep(What.RECEIPTS, 30)
    keep(What.ARTIFACTS, 1)
    page = client.get(reverse("settings_data")).content.decode()
    assert "Deleted after 365 days without a message" in page
    assert "The text is deleted after 30 days; the figures stay." in page
    assert "deleted after 90 days" not in page, "by then the words are gone"
    assert "Deleted after 1 day." in page
    assert "after 365 days" in client.get(reverse("import")).content.decode()
    keep(What.CUT, 0)
    keep(What.RECEIPTS, 0)
    page = client.get(reverse("settings_data")).content.decode()
    assert "kept with its message." in page
