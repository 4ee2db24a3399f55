"""Alice says something that is learned, recalled, summarized and reviewed: every place where it leaves a trace."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.utils import timezone

from accounts.models import User
from budget.models import ProfileSnapshot, Receipt
from chat.models import Conversation, Message, Segment
from memory.documents import revisions
from memory.embeddings.port import embedder
from memory.facts.links import link_superseded
from memory.index.indexer import embed_pending, index_conversation, index_segment
from memory.models import Document, Episode, Fact, FactLink, LibrarianRun, PersonalIndex, ReviewAction, Upload

QUOTE = "My cousin Quillfeather moved to Zanzibar"
SAID = f"Guess what. {QUOTE}, and I am learning to bake bread."
STATEMENT = "The user's cousin Quillfeather lives in Zanzibar."
WORDS = ("quillfeather", "zanzibar")
OLDER = "The user's cousin lives in Porto."
BREAD = "The user is learning to bake bread."
ASKED = "Where should I travel in spring?"


@dataclass
class Told:
    """The rows of the story."""

    user: User
    conversation: Conversation
    other: Conversation
    source: Message
    reply: Message
    neighbour: Message
    recalled: Message
    unconcerned: Message
    fact: Fact
    older: Fact
    bread: Fact
    episode: Episode
    segment: Segment
    receipt: Receipt
    run: LibrarianRun


def tell(user: User) -> Told:
    """Create the whole story, as rows."""
    conversation = Conversation.objects.create(user=user, title=f"{QUOTE}…")
    said = [
        *exchange(conversation, SAID, "How lovely that your cousin Quillfeather is in Zanzibar now!"),
        *exchange(conversation, "What flour do I need?", "Strong white flour."),
        *exchange(conversation, "And how long must it rest?", "An hour or so, in the warm."),
    ]
    other = Conversation.objects.create(user=user, title="Travelling")
    _, recalled = exchange(other, ASKED, "You could visit your relative on her island in the Indian Ocean.")
    _, unconcerned = exchange(other, "And in autumn?", "Lisbon is mild in autumn.")
    tool(recalled, "tool_call", "", {"id": "1", "input": {"query": "cousin Zanzibar"}})
    tool(recalled, "tool_result", f'{{"found": ["{STATEMENT}"]}}', {"id": "1", "is_error": False})
    run = LibrarianRun.objects.create(
        user=user, conversation=conversation, first_seq=1, last_seq=6, trigger="ended", state="done"
    )
    older = learn(user, OLDER, kind="person", key="user/cousin/home", value="Porto", status="active")
    fact = learn(
        user, STATEMENT, kind="person", key="user/cousin/home", value="Zanzibar", message=said[0], quote=QUOTE, run=run
    )
    accept(fact, older)
    bread = learn(user, BREAD, message=said[0], quote=SAID, status="active", run=run)
    FactLink.objects.create(user=user, from_fact=bread, to_fact=fact, relation="related_to")
    ReviewAction.objects.create(
        user=user, fact=bread, verb="edit", by=user,
        before={str(bread.pk): {"reason": f"contradicts “{STATEMENT}”"}, str(fact.pk): {"status": "active"}},
    )  # fmt: skip
    Fact.objects.filter(pk=bread.pk).update(reason=f"beside “{STATEMENT}”", tags=["zanzibar", "baking"])
    episode = Episode.objects.create(
        user=user, conversation=conversation, run=run, first_turn=1, last_turn=2, title="Quillfeather's move",
        summary="The cousin moved to Zanzibar, and bread was baked.", topics=["zanzibar"],
        participants=["Quillfeather"],
    )  # fmt: skip
    episode.facts.add(fact)
    segment = Segment.objects.create(
        user=user, conversation=conversation, number=1, first_turn=1, last_turn=1, last_message=said[1],
        text=f"Turn 1. Insight: {STATEMENT}", summary={"narrative": STATEMENT, "topics": ["zanzibar"]},
        topics=["zanzibar"],
    )  # fmt: skip
    for one in (conversation, other):
        index_conversation(one.pk)
    index_segment(user.pk, conversation.pk, segment.pk, segment.text, place=said[1].seq)
    write_documents(user, fact, conversation)
    receipt = receive(recalled, fact, segment, said[0])
    receive(unconcerned, bread, None, None, snapshot_text=STATEMENT, fact_line=fact)
    Conversation.objects.filter(pk=other.pk).update(task={"goal": "Visit Zanzibar", "steps": ["book"]})
    LibrarianRun.objects.filter(pk=run.pk).update(error=f"could not place “{STATEMENT}”")
    PersonalIndex.objects.create(user=user, rows=9, common_words={"zanzibar": 5, "bread": 4, "quillfeath": 2})
    embed_pending()
    return Told(
        user, conversation, other, said[0], said[1], said[2], recalled, unconcerned, fact, older, bread, episode,
        segment, receipt, run,
    )  # fmt: skip


def exchange(conversation: Conversation, question: str, answer: str) -> tuple[Message, Message]:
    """One turn at the end of a conversation."""
    conversation.refresh_from_db()
    leaf, made = conversation.active_leaf, []
    for role, event, text in (
        ("user", "user_message", question),
        ("assistant", "assistant_response", answer),
    ):
        seq = conversation.next_seq
        leaf = Message.objects.create(
            user=conversation.user, conversation=conversation, seq=seq, parent=leaf, role=role, event_type=event,
            turn=(seq + 1) // 2, text=text, client_id=uuid4(), event_data={"stop_reason": "end_turn"},
        )  # fmt: skip
        made.append(leaf)
        conversation.active_leaf, conversation.next_seq = leaf, seq + 1
    conversation.save()
    return made[0], made[1]


def tool(answer: Message, event: str, text: str, data: dict[str, Any]) -> Message:
    """A tool event below an answer; its number is beyond those of the turns."""
    seq = 1000 + Message.objects.filter(conversation=answer.conversation).count()
    made: Message = Message.objects.create(
        user=answer.user, conversation=answer.conversation, seq=seq, parent=answer, role="tool", event_type=event,
        turn=answer.turn, author="search_knowledge", text=text, event_data=data,
    )  # fmt: skip
    return made


def learn(user: User, statement: str, **fields: Any) -> Fact:
    """A fact with its vector."""
    model = embedder()
    vector = model.embed([statement])[0].tolist()
    made: Fact = Fact.objects.create(user=user, statement=statement, vector=vector, embedded_by=model.name, **fields)
    return made


def accept(fact: Fact, older: Fact) -> ReviewAction:
    """Leave the rows as accepting the fact would."""
    before = {
        str(fact.pk): {"status": "proposed", "reason": "about another person", "accepted_at": None},
        str(older.pk): {"status": "active", "reason": "", "superseded_at": None, "superseded_by_id": None},
    }
    now = timezone.now() - timedelta(minutes=5)
    Fact.objects.filter(pk=older.pk).update(status="superseded", superseded_at=now)
    Fact.objects.filter(pk=fact.pk).update(status="active", accepted_at=now)
    fact.refresh_from_db()
    link_superseded(fact, [older.pk])
    action: ReviewAction = ReviewAction.objects.create(
        user=fact.user, fact=fact, verb="accept", by=fact.user, before=before
    )
    return action


def write_documents(user: User, fact: Fact, conversation: Conversation) -> None:
    """A profile with a librarian line and history; an upload; a stored tool result; a file that failed."""
    mine = "I am fond of the sea."
    revisions.save(user, "/profile/identity", f"{mine}\n{STATEMENT}", started_from=0)
    revisions.save(user, "/profile/identity", f"{mine}\n{STATEMENT}\nI bake.", started_from=1)
    revisions.save(user, "/profile/goals", "Visit the Alps.", started_from=0)
    Document.objects.create(
        user=user, path=f"/artifacts/{conversation.pk}/search 1", title="search 1", text=f"Found: {STATEMENT}",
        source="import",
    )  # fmt: skip
    Document.objects.create(user=user, path="/projects/trip to Zanzibar", title="trip to Zanzibar", text="Pack light.")
    Upload.objects.create(
        user=user, name="zanzibar.txt", media_type="text/plain", size=9, folder="/reference", state="failed",
        content=f"About {STATEMENT}".encode(), error="“zanzibar.txt” could not be read.",
    )  # fmt: skip


def receive(
    answer: Message,
    fact: Fact,
    segment: Segment | None,
    source: Message | None,
    *,
    snapshot_text: str = "",
    fact_line: Fact | None = None,
) -> Receipt:
    """The receipt of an answer for which the fact was recalled."""
    snapshot = ProfileSnapshot.objects.create(
        user=answer.user, conversation=answer.conversation, reason="new", text=snapshot_text,
        lines=[{"ref": fact_line.ref, "text": snapshot_text, "tokens": 9}] if fact_line else [],
    )  # fmt: skip
    found = [("memories", fact.ref, fact.statement, True)]
    found += [("history", segment.ref, segment.text, True)] if segment else []
    found += [("memories", f"message:{source.pk}", source.text, False)] if source else []
    items: list[dict[str, Any]] = [
        {"ref": ref, "section": section, "label": text[:200], "tokens": 9, "score": 0.5, "parts": {}, "kept": kept,
         "rule": "" if kept else "floor", "url": ""}
        for section, ref, text, kept in found
    ]  # fmt: skip
    recalled = [{"ref": ref, "source": "fact", "text": text} for _, ref, text, _ in found]
    made: Receipt = Receipt.objects.create(
        user=answer.user, conversation=answer.conversation, message=answer, turn=answer.turn, model="m",
        plan="standard", plan_total=1, items=items, request_digest="0" * 64, snapshot=snapshot,
        ingredients={"contents": {"recalled": recalled, "profile_update": [f"New: {fact.statement}"]}},
    )  # fmt: skip
    return made
