"""One row of everything a user can have, each with a word of theirs in it; and its URLs below the API."""

from typing import Any, Final
from uuid import uuid4

from django.test import Client
from django.utils import timezone

from accounts.api import keys
from accounts.api.scopes import SCOPES
from accounts.models import AccessLog
from budget.models import BudgetPlan, Limit, ProfileSnapshot, Receipt, UsageDay
from chat.models import Attachment, Conversation, ImportJob, Message, Project, Role, Segment
from memory.documents import revisions
from memory.facts.links import link
from memory.models import Boundary, Consolidation, Episode, Fact, FactLink, Forgetting, ReviewAction, Upload

AT: Final = "/api/v1"
DOCUMENT: Final = "/projects/garden/plan"


def with_key(user: Any, *scopes: str) -> Client:
    """A program with a key of this user; without `scopes` it may do everything."""
    _, secret = keys.create_key(user, "a program", scopes or SCOPES)
    return Client(headers={"Authorization": f"Bearer {secret}"})


def everything_of(user: Any, word: str) -> dict[str, Any]:
    """URL placeholder → this user's row; each row contains `word`."""
    role = Role.objects.create(user=user, name=word, instructions=word)
    project = Project.objects.create(user=user, name=word, path="/projects/garden", instructions=word)
    conversation = Conversation.objects.create(
        user=user, title=f"About {word}", next_seq=4, role=role, scope=project.path
    )
    common: dict[str, Any] = {"user": user, "conversation": conversation, "turn": 1, "text": word}
    question = Message.objects.create(seq=1, role="user", event_type="user_message", client_id=uuid4(), **common)
    answer = Message.objects.create(seq=2, role="assistant", event_type="assistant_response", parent=question, **common)
    tried = Message.objects.create(
        seq=3, role="assistant", event_type="assistant_response", parent=question,
        event_data={"beside": answer.pk, "without": ["fact:1"]}, **common,
    )  # fmt: skip
    Conversation.objects.filter(pk=conversation.pk).update(active_leaf=answer)
    Segment.objects.create(
        user=user, conversation=conversation, number=1, first_turn=1, last_turn=1, last_message=answer, text=word
    )
    fact = Fact.objects.create(user=user, statement=word, quote=word, message=question)
    known = Fact.objects.create(user=user, statement=f"{word} is known", status="active", tags=["garden"])
    link(user.pk, fact.pk, FactLink.Relation.RELATED_TO, known.pk, 0.5)
    action = ReviewAction.objects.create(user=user, fact=known, verb="accept", by=user, before={})
    revisions.save(user, DOCUMENT, word, started_from=0)
    _receipt(user, conversation, answer, word)
    _receipt(user, conversation, tried, word)
    attachment = Attachment.objects.create(
        user=user, kind="file", name=f"{word}.txt", media_type="text/plain", size=4, content=word.encode(), text=word
    )
    Forgetting.objects.create(user=user, what="fact", gone={"fact": 1})
    Consolidation.objects.create(user=user, how="nightly", state="done", figures={"archived": 2})
    BudgetPlan.objects.create(user=user, preset="standard")
    Limit.objects.create(user=user, what="turns", per="day", amount=1000)
    UsageDay.objects.create(user=user, day=timezone.localdate(), model="m", turns=1)
    AccessLog.objects.create(reader=user, user=user, what="fact 1")
    return {
        "conversation": conversation.pk,
        "message": answer.pk,
        "tried": tried.pk,
        "fact": fact.pk,
        "linked": known.pk,
        "decision": action.pk,
        "boundary": Boundary.objects.create(user=user, text=word).pk,
        "episode": Episode.objects.create(user=user, conversation=conversation, title=word, summary=word).pk,
        "upload": Upload.objects.create(user=user, name=word, size=1, folder="/reference", state="failed").pk,
        "import": ImportJob.objects.create(user=user, name=word, size=1).pk,
        "attachment": attachment.pk,
        "role": role.pk,
        "project": project.pk,
    }


def _receipt(user: Any, conversation: Conversation, answer: Message, word: str) -> None:
    item = {"ref": "fact:1", "section": "memories", "label": word, "tokens": 1, "kept": True, "rule": "", "url": ""}
    Receipt.objects.create(
        user=user, conversation=conversation, message=answer, turn=1, model="m", plan="standard", plan_total=1,
        items=[{**item, "score": 0.5, "parts": {"keyword": 0.5}}], request_digest="0" * 64,
        snapshot=ProfileSnapshot.objects.create(user=user, conversation=conversation, text=word, reason="new"),
    )  # fmt: skip


def filled(path: str, rows: dict[str, Any]) -> str:
    """The URL of a row, with its placeholders filled. `number` is an upload, an import, or a document's version."""
    number = rows["upload"] if "/uploads/" in path else rows["import"] if "/imports/" in path else 1
    for name, value in {**rows, "number": number}.items():
        path = path.replace(f"{{{name}}}", str(value))
    return path
