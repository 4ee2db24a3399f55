"""A simulated user: talks through real turns, waits for the background jobs, decides on proposals, asks.

Time passes by moving the past: everything runs now, and the rows written in a session are then dated back to it. So no
clock is faked, in Python or in SQL.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final, Self
from uuid import UUID, uuid4

from celery.signals import before_task_publish
from django.apps import apps
from django.db import connection, models
from django.utils import timezone

from accounts.models import User
from chat.conversations.titles import TASK as TITLE
from chat.evaluation.cases import found
from chat.evaluation.checks import Reply, read_prompt
from chat.ingest import librarian_triggers
from chat.models import Conversation, Message
from chat.prompt.assemble import AssembledPrompt
from chat.turn import AcceptedTurn
from chat.turns.backend import StoredTurn
from chat.turns.intake import accept_message
from chat.turns.live import RunningTurn
from chat.turns.run import run_turn
from memory.evaluation.retrieval.run import DOMAIN
from memory.forgetting.verify import VACUUM_TASK
from memory.index.indexer import embed_pending
from memory.models import Chunk, Fact
from memory.review import decisions
from recall.celery import app as celery_app

OPEN: Final = (Fact.Status.ACTIVE, Fact.Status.PROPOSED)
NOT_RUN: Final = frozenset({TITLE, VACUUM_TASK})
"""Tasks that don't affect memories."""

DECIDES_AFTER: Final = timedelta(minutes=5)
"""From a session to the decisions on its proposals: before the earliest next session."""

type Task = tuple[str, tuple[Any, ...]]


def new_user() -> User:
    """An account that no one signs in to."""
    return User.objects.create_user(f"{uuid4().hex}@{DOMAIN}", time_zone="UTC")


@dataclass(frozen=True, slots=True)
class _Watched(StoredTurn):
    """A stored turn that keeps the prompt it was answered from."""

    prompts: list[AssembledPrompt] = field(default_factory=list)

    def build_prompt(self) -> AssembledPrompt:
        prompt = super(_Watched, self).build_prompt()
        self.prompts.append(prompt)
        return prompt


class Worker:
    """Collects the tasks that are queued, and runs them when asked: a Celery worker without a process."""

    def __init__(self) -> None:
        self.queued: list[Task] = []
        self.loop = asyncio.Runner()

    def __enter__(self) -> Self:
        celery_app.conf.update(broker_url="memory://", broker_transport="memory", broker_transport_options={})
        celery_app.loader.import_default_modules()
        before_task_publish.connect(self._collect)
        return self

    def __exit__(self, *_: object) -> None:
        before_task_publish.disconnect(self._collect)
        self.loop.close()

    def _collect(self, sender: str, body: tuple[Any, ...], **_: Any) -> None:
        self.queued.append((sender, tuple(body[0])))

    def work(self) -> None:
        """Run the queued tasks, and those they queue, until none are left; then embed."""
        while self.queued:
            name, arguments = self.queued.pop(0)
            if name not in NOT_RUN:
                celery_app.tasks[name](*arguments)
        embed_pending(60.0)


@dataclass(slots=True)
class Person:
    """One simulated user with a fresh account."""

    worker: Worker
    user: User = field(default_factory=new_user)
    conversation: UUID | None = None
    last_at: datetime = field(default_factory=timezone.now)
    """Time of the last session; decisions on what it taught are made shortly after."""
    prompts: list[tuple[int, str]] = field(default_factory=list)
    """For each turn so far: its number, and its prompt without the message."""

    def say(self, text: str) -> Reply:
        """One turn in the current conversation, or in a new one."""
        accepted = accept_message(self.user, uuid4(), self.conversation, text)
        self.conversation = accepted.conversation.pk
        return self.answered(accepted)

    def answered(self, accepted: AcceptedTurn) -> Reply:
        """Run an accepted turn to its end."""
        backend = _Watched(accepted)
        turn = RunningTurn(self.user.pk, accepted.conversation.pk, accepted.answer.pk)
        self.worker.loop.run(run_turn(turn, backend))
        answer = Message.objects.get(pk=accepted.answer.pk)
        if answer.status != Message.Status.COMPLETE or not backend.prompts:
            raise RuntimeError(f"The turn was not answered: {answer.status} {answer.event_data}")
        reply = Reply(answer.text, read_prompt(backend.prompts[-1].request))
        self.prompts.append((len(self.prompts), reply.prompt))
        return reply

    def talk(self, messages: Sequence[str], at: datetime, *, same: bool = False) -> list[Reply]:
        """One session at `at`: the turns, then all background jobs that run when it is over."""
        if not same:
            self.conversation = None
        since = timezone.now()
        replies = [self.say(text) for text in messages]
        self.settle(since, at)
        self.last_at = at
        return replies

    def settle(self, since: datetime, at: datetime) -> None:
        """Date everything written since then to `at`, and run the background jobs of an idle conversation."""
        move_past(self.user, since, at)
        librarian_triggers.pause_idle()
        self.worker.work()
        move_past(self.user, since, at)

    def ask(self, text: str) -> Reply:
        """Ask in a new conversation, which leaves no trace afterwards."""
        kept, self.conversation = self.conversation, None
        active = list(Conversation.objects.for_user(self.user).values_list("pk", flat=True))
        reply = self.say(text)
        Conversation.objects.for_user(self.user).exclude(pk__in=active).delete()
        self.worker.queued.clear()
        self.conversation = kept
        return reply

    def facts(self, *statuses: str) -> list[Fact]:
        """The user's facts in these states (by default active and waiting), oldest first."""
        return list(Fact.objects.for_user(self.user).filter(status__in=statuses or OPEN).order_by("pk"))

    def known(self) -> tuple[str, ...]:
        """Every fact in any state as one line, for investigating a failure."""
        facts = Fact.objects.for_user(self.user).order_by("pk")
        return tuple(f"{fact.status}: {fact.statement} [{fact.key}]" for fact in facts)

    def accept_all(self) -> None:
        """Accept every proposal, oldest first; one that no longer waits is left alone."""
        since = timezone.now()
        for fact in self.facts(Fact.Status.PROPOSED):
            fact.refresh_from_db()
            if fact.status == Fact.Status.PROPOSED:
                decisions.accept(fact, by=self.user)
        self.decided(since)

    def reject(self, pattern: str) -> int:
        """Reject every matching fact; return how many there were."""
        since = timezone.now()
        rejected = [fact for fact in self.facts() if found(pattern, f"{fact.statement} {fact.value}")]
        for fact in rejected:
            decisions.reject(fact, by=self.user)
        self.decided(since)
        return len(rejected)

    def decided(self, since: datetime) -> None:
        """Date decisions made since then to shortly after the last session, and run the tasks they queued."""
        self.worker.work()
        move_past(self.user, since, self.last_at + DECIDES_AFTER)

    def passages(self) -> list[str]:
        """Every passage of the index."""
        return list(Chunk.objects.for_user(self.user).values_list("text", flat=True))


@cache
def _dated() -> list[tuple[str, list[str]]]:
    """Tables with an owner, and their columns that hold a time."""
    found_ = []
    for model in apps.get_models():
        columns = [str(f.column) for f in model._meta.local_concrete_fields if isinstance(f, models.DateTimeField)]
        if columns and any(f.column == "user_id" for f in model._meta.local_concrete_fields):
            found_.append((model._meta.db_table, columns))
    return found_


def move_past(user: User, since: datetime, at: datetime) -> None:
    """Date all of the user's rows written since then as if that moment had been `at`."""
    seconds = (since - at).total_seconds()
    with connection.cursor() as cursor:
        for table, columns in _dated():
            changes = ", ".join(
                f"{column} = {column} - CASE WHEN {column} >= %(since)s THEN %(past)s ELSE 0 END * interval '1 second'"
                for column in columns
            )
            touched = " OR ".join(f"{column} >= %(since)s" for column in columns)
            cursor.execute(
                f"UPDATE {table} SET {changes} WHERE user_id = %(user)s AND ({touched})",  # noqa: S608 - our own names
                {"since": since, "past": seconds, "user": user.pk},
            )
