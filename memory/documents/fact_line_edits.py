"""Applies a user's edit of a document to the facts that its lines state.

    a reworded line       the fact is superseded by one in the user's words: edited, certain
    a removed line        the fact is rejected and not proposed again; undo restores the line
    a line without mark   nothing: it is the user's prose

Locks are taken in one order everywhere: facts by id, then documents.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from django.db.models import Q
from django.utils import timezone

from memory.facts.links import link_superseded, mark_superseded
from memory.models import Document, Fact, ReviewAction
from memory.secrets.secrets_filter import sensitive
from memory.text.fact_lines import Edit, diff_fact_lines, facts_in, lines_of, renamed, statement_of, value_of
from recall.celery import enqueue_on_commit
from recall.llm.tokens import count_tokens

if TYPE_CHECKING:
    from accounts.models import User

PROFILE: Final = "/profile"
MARK_OF_ORIGIN: Final = "profile:"
"""Prefix of a profile document's `external_id`, which identifies it wherever the user moves it."""
CERTAIN: Final = 1.0
"""Confidence of the user's own wording."""
EDITED: Final = "edited by you"
TAKEN_OUT: Final = "rejected by you: its line was taken out"
TAKEN_BACK: Final = "your wording was taken back"
"""Reasons, as the user reads them."""
MAX_STATEMENT_CHARS: Final = 500
"""Same as in `memory/librarian/engine.py`: a longer line is prose."""
MAX_SUCCESSIONS: Final = 20
"""Steps from a superseded fact to the active one."""


@dataclass(frozen=True, slots=True)
class AppliedEdit:
    """A new text, ready to write, and the facts to reject after that."""

    text: str
    removed: Collection[Fact] = ()


def is_profile(document: Document) -> bool:
    """Whether the document's lines state facts: it is in the profile, or was when the librarian first wrote it."""
    is_inside = document.path == PROFILE or document.path.startswith(f"{PROFILE}/")
    return is_inside or document.external_id.startswith(MARK_OF_ORIGIN)


def lock_facts(user: User, path: str) -> None:
    """Lock the facts stated in the document at `path`; call it before locking the document."""
    for text in Document.objects.for_user(user).filter(path=path).values_list("text", flat=True):
        _lock_facts(user.pk, facts_in(text))


def apply_edits(document: Document, text: str) -> AppliedEdit:
    """Supersede the facts whose lines the user reworded in `text`; the facts of removed lines are to be rejected.

    Call it within the transaction that writes `text`, with the document locked.
    """
    before, after = facts_in(document.text), facts_in(text)
    if not before and not after:
        return AppliedEdit(text)
    if not is_profile(document):
        return AppliedEdit(diff_fact_lines("", text, {}).text)
    edit = diff_fact_lines(document.text, text, active_successors(document.user_id, set(after) - set(before)))
    active = {fact.pk: fact for fact in _lock_facts(document.user_id, before) if fact.status == Fact.Status.ACTIVE}
    new: dict[int, int] = {}
    for fact, words in edit.reworded.items():
        if fact in active and len(words) <= MAX_STATEMENT_CHARS and not sensitive(words):
            new[fact] = _supersede(active[fact], words, document.user).pk
        else:  # a secret, a long text, or a fact that is no longer active: prose
            edit = _as_prose(edit, fact)
    removed = [active[fact] for fact in sorted(edit.removed) if fact in active]
    return AppliedEdit(renamed(edit.text, new), removed)


def reject_removed(facts: Collection[Fact], by: User) -> None:
    """Reject facts whose lines the user removed, as one batch, undone together (memory/review/bulk_review.py)."""
    if not facts:
        return
    now, batch = timezone.now(), uuid4() if len(facts) > 1 else None
    for fact in facts:
        before = {"status": fact.status, "reason": fact.reason, "withdrawn_at": None}
        ReviewAction.objects.create(
            user_id=fact.user_id,
            fact=fact,
            verb=ReviewAction.Verb.REJECT,
            by=by,
            before={str(fact.pk): before},
            batch=batch,
        )
    rejected = Fact.objects.filter(pk__in=[fact.pk for fact in facts])
    rejected.update(status=Fact.Status.REJECTED, reason=TAKEN_OUT, withdrawn_at=now)


def lock_stated_facts(user: User, documents: Iterable[Document]) -> list[Fact]:
    """The active facts stated in these documents, locked: deleting a document removes all its lines."""
    ids = [fact for document in documents if is_profile(document) for fact in facts_in(document.text)]
    return [fact for fact in _lock_facts(user.pk, ids) if fact.status == Fact.Status.ACTIVE]


def active_successors(user_id: int, facts: Collection[int]) -> dict[int, int]:
    """Superseded fact → its active successor; facts without one are left out."""
    now_at = {fact: fact for fact in facts}
    found: dict[int, int] = {}
    for _ in range(MAX_SUCCESSIONS):
        rows = Fact.objects.filter(user=user_id, pk__in=set(now_at.values()))
        status = {pk: (state, heir) for pk, state, heir in rows.values_list("pk", "status", "superseded_by")}
        found |= {a: b for a, b in now_at.items() if a != b and b in status and status[b][0] == Fact.Status.ACTIVE}
        steps = {a: status[b][1] for a, b in now_at.items() if b in status and status[b][0] == Fact.Status.SUPERSEDED}
        now_at = {a: heir for a, heir in steps.items() if heir is not None}
        if not now_at:
            break
    return found


def _lock_facts(user_id: int, facts: Collection[int]) -> list[Fact]:
    if not facts:
        return []
    owned = Fact.objects.filter(Q(user=user_id), pk__in=facts).order_by("pk").select_for_update(no_key=True)
    return list(owned.defer("vector", "search"))


def _as_prose(edit: Edit, fact: int) -> Edit:
    lines = (line.unmarked if line.fact == fact else line.raw for line in lines_of(edit.text))
    return replace(edit, text="\n".join(lines), removed=edit.removed | {fact})


def _supersede(old: Fact, words: str, by: User) -> Fact:
    """Supersede `old` by a fact in the user's words; undoing it (memory/review/decisions.py) restores `old`."""
    now = timezone.now()
    before: dict[str, Any] = {
        str(old.pk): {"status": old.status, "reason": old.reason, "superseded_at": None, "superseded_by_id": None}
    }
    mark_superseded([old.pk], at=now)
    statement = statement_of(words, old.statement)
    new: Fact = Fact.objects.create(
        user_id=old.user_id,
        statement=statement,
        tokens=count_tokens(statement),
        kind=old.kind,
        key=old.key,
        value=value_of(words, old.statement, old.value),
        tags=[tag for tag in old.tags if tag.casefold() in statement.casefold()],
        confidence=CERTAIN,
        importance=old.importance,
        status=Fact.Status.ACTIVE,
        reason=EDITED,
        accepted_at=now,
        source=Fact.Source.EDITED,
        message_id=old.message_id,
        quote=words,
    )
    link_superseded(new, [old.pk])
    before[str(new.pk)] = {"status": Fact.Status.REJECTED, "reason": TAKEN_BACK}
    ReviewAction.objects.create(user_id=old.user_id, fact=new, verb=ReviewAction.Verb.EDIT, by=by, before=before)
    enqueue_on_commit("memory.tasks.embed")
    return new
