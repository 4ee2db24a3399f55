"""An account with at least one row of everything, each referencing others wherever it can."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

from accounts.models import AccessLog
from budget.models import BudgetPlan, Limit, ProfileSnapshot, Receipt, UsageDay
from chat.models import Attachment, Compaction, Conversation, ImportJob, Message, Project, Role, Segment
from memory import tombstones
from memory.documents import revisions
from memory.index.indexer import embed_pending, index_conversation
from memory.models import (
    Boundary,
    Consolidation,
    Document,
    Episode,
    Fact,
    FactLink,
    Forgetting,
    KindPolicy,
    LibrarianRun,
    MessageChange,
    Upload,
)
from memory.review import decisions

LONG_AGO = datetime(2024, 3, 1, 9, 30, 15, 123456, tzinfo=UTC)
EACH = "zebrafinch"
"""A word in every text."""


def fill(user: Any, staff: Any) -> Conversation:
    """Create it; returns the conversation."""
    role = Role.objects.create(user=user, name=f"Teacher {EACH}", instructions="Patient")
    Project.objects.create(user=user, name=EACH, path="/projects/birds", instructions=f"Only {EACH}")
    conversation = Conversation.objects.create(
        user=user, title=f"About {EACH}", role=role, started_at=LONG_AGO, last_activity_at=LONG_AGO, next_seq=7,
        origin="chatgpt", external_id="c-1", task={"goal": EACH},
    )  # fmt: skip
    said = _talk(user, conversation)
    run = LibrarianRun.objects.create(
        user=user, conversation=conversation, first_seq=1, last_seq=6, trigger="asked", state="running",
        claim=uuid4(), lease_until=LONG_AGO, cost=Decimal("0.000125"), dropped={"known": 1},
    )  # fmt: skip
    old, new = _facts(user, said[0], run)
    _documents(user, conversation, new, said[0])
    episode = Episode.objects.create(
        user=user, conversation=conversation, run=run, first_turn=1, last_turn=2, title=EACH, summary="Told",
        participants=["Ana"], topics=["birds"], happened_at=LONG_AGO,
    )  # fmt: skip
    episode.facts.add(new)
    Episode.objects.create(user=user, title="Merged", summary=EACH, status="merged", merged_into=episode)
    _budget(user, conversation, said[1], new, episode)
    narrow, wide = (
        Segment.objects.create(
            user=user, conversation=conversation, number=number, first_turn=1, last_turn=1, last_message=said[1],
            before=said[0], text=EACH, summary={"narrative": EACH}, topics=["birds"],
        )
        for number in (1, 2)
    )  # fmt: skip
    Segment.objects.filter(pk=narrow.pk).update(merged_into=wide)
    Compaction.objects.create(user=user, conversation=conversation, reason="asked", state="done", finished_at=LONG_AGO)
    Boundary.objects.create(user=user, text=f"Never mention {EACH}")
    KindPolicy.objects.create(user=user, subject="health", rule="never")
    Upload.objects.create(user=user, name=f"{EACH}.txt", media_type="text/plain", size=3, folder="/x", content=b"abc")
    Forgetting.objects.create(user=user, what="topic", gone={"facts": 2}, restored=1, found_again=0, by=user)
    tombstones.record(user.pk, tombstones.phrases_of("I keep a spare key under the flower pot."), None)
    Consolidation.objects.create(user=user, how="nightly", state="done", figures={"archived": 2}, finished_at=LONG_AGO)
    AccessLog.objects.create(user=user, reader=staff, what=f"fact {new.pk}")
    ImportJob.objects.create(user=user, name=f"{EACH}.zip", size=5, state="done", counts={"counted": {"new": 1}})
    assert old.pk
    index_conversation(conversation.pk)
    while embed_pending():
        pass
    return conversation


def _talk(user: Any, conversation: Conversation) -> list[Message]:
    """A question, two answers of which the second is active, tool events, and a further exchange."""
    common: dict[str, Any] = {"user": user, "conversation": conversation, "created_at": LONG_AGO}
    question = Message.objects.create(
        seq=1,
        turn=1,
        role="user",
        event_type="user_message",
        text=f"My {EACH} lives in Porto",
        client_id=uuid4(),
        **common,
    )
    Message.objects.create(
        seq=2, turn=1, role="assistant", event_type="assistant_response", text="First try", parent=question, **common
    )
    answer = Message.objects.create(
        seq=3, turn=1, role="assistant", event_type="assistant_response", text=f"A {EACH}!", parent=question,
        external_id="a-1", event_data={"stop_reason": "end_turn", "tool_lines": [EACH]}, **common,
    )  # fmt: skip
    artifact = f"/artifacts/{conversation.pk}/web_search 1"
    Message.objects.create(
        seq=4, turn=1, role="tool", author="web_search", event_type="tool_result", text=f"See {artifact}",
        parent=answer, event_data={"id": "t1", "is_error": False, "artifact": artifact}, **common,
    )  # fmt: skip
    more = Message.objects.create(
        seq=5,
        turn=2,
        role="user",
        event_type="user_message",
        text="What is fact:1, /m/1 and ^fact-x?",
        parent=answer,
        **common,
    )
    last = Message.objects.create(
        seq=6, turn=2, role="assistant", event_type="assistant_response", text="Half a sen", parent=more,
        status="streaming", process_key=5, archived_at=LONG_AGO, **common,
    )  # fmt: skip
    Conversation.objects.filter(pk=conversation.pk).update(active_leaf=last)
    Attachment.objects.create(
        user=user, message=question, number=1, kind="file", name=f"{EACH}.txt", media_type="text/plain", size=10,
        content=b"zebrafinch\x00\xff", text=EACH, tokens=3, content_hash="0" * 64, created_at=LONG_AGO,
    )  # fmt: skip
    return [question, answer, more, last]


def _facts(user: Any, message: Message, run: LibrarianRun) -> tuple[Fact, Fact]:
    """A fact superseded by an accepted one, which was edited before; and one whose rejection was undone."""
    common: dict[str, Any] = {"user": user, "kind": "biography", "key": "user/home", "recorded_at": LONG_AGO}
    old = Fact.objects.create(statement=f"The user's {EACH} lives in Lisbon", status="active", value="Lisbon", **common)
    new = Fact.objects.create(
        statement=f"The user's {EACH} lives in Porto", value="Porto", message=message, run=run,
        quote=f"My {EACH} lives in Porto", tags=["birds"], valid_from=LONG_AGO, times_used=3, last_used_at=LONG_AGO,
        extracted_by="rules/1", **common,
    )  # fmt: skip
    decisions.edit(new, f"The user's {EACH} lives in the north of Porto", by=user)
    third = Fact.objects.create(user=user, statement=f"{EACH} sings", source="imported")
    decisions.undo(decisions.reject(third, by=user))
    FactLink.objects.create(user=user, from_fact=third, to_fact=new, relation="depends_on", strength=0.3)
    later = Message.objects.for_user(user).exclude(pk=message.pk).order_by("-pk")[0]
    MessageChange.objects.create(user=user, message=message, changed_by=later, created_at=LONG_AGO)
    old.refresh_from_db()
    new.refresh_from_db()
    assert old.superseded_by_id == new.pk
    return old, new


def _documents(user: Any, conversation: Conversation, fact: Fact, message: Message) -> None:
    text = f"- Lives in Porto. ^fact-{fact.pk}\n- The {EACH} sings. ^said-{message.pk}\n"
    first = revisions.save(user, "/profile/identity", f"# {EACH}", started_from=0)
    revisions.write(first, f"# {EACH}\n\n{text}", "librarian")
    revisions.add(
        user,
        f"/artifacts/{conversation.pk}/web_search 1",
        EACH,
        "import",
        revisions.Origin(Document.Source.IMPORT, "x:1", "0" * 64),
    )
    Document.objects.filter(pk=first.pk).update(created_at=LONG_AGO, changed_at=LONG_AGO, tags=["me"])


def _budget(user: Any, conversation: Conversation, answer: Message, fact: Fact, episode: Episode) -> None:
    snapshot = ProfileSnapshot.objects.create(
        user=user, conversation=conversation, text=EACH, reason="new",
        lines=[{"ref": ref, "text": EACH, "tokens": 3} for ref in (fact.ref, "document:/profile/identity:1")],
    )  # fmt: skip
    refs = [fact.ref, episode.ref, f"message:{answer.pk}"]
    Receipt.objects.create(
        user=user, conversation=conversation, message=answer, turn=1, model="m", plan="standard", plan_total=9,
        items=[{"ref": ref, "label": EACH, "url": f"/m/{answer.pk}", "kept": True} for ref in refs],
        sections=[], request_digest="0" * 64, snapshot=snapshot, cost=Decimal("0.012345"),
        ingredients={"contents": {"recalled": refs}, "settings": {"conversation": str(conversation.pk)}},
    )  # fmt: skip
    BudgetPlan.objects.create(user=user, preset="small", ceilings={"history": 100})
    Limit.objects.create(user=user, what="money", per="day", amount=Decimal("1.5"))
    UsageDay.objects.create(user=user, day=date(2024, 3, 1), model="m", turns=2, cost=Decimal("0.5"))
