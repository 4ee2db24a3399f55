"""The acting user: whose rows the database shows, the second wall behind `for_user`.

Each request, socket, API call and job acts for one user, or in one of WAYS; otherwise for no user, who sees no one's
rows. The actor is a context variable, so it follows async code into tasks and threads. The database engine
(`recall/db/engine/base.py`) tells the server before a statement whenever the actor has changed, by `SET ROLE` and the
setting `recall.user_id`, and clears both before a connection returns to the pool. The policies that read them are in
`recall/db/row_security.py`.

    recall_user      rows of the acting user only
    recall_sign_in   the same, and every row of the tables that say who someone is
    recall_system    every row; no tables can be made or changed
    the owner        a separate login if there is one: tables and indexes
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import _GeneratorContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from typing import Any, Final

from django.apps import apps
from django.contrib.auth import get_user_model

logger = logging.getLogger(__name__)


class Role(StrEnum):
    """Who a connection reads and writes as."""

    USER = "recall_user"
    SIGN_IN = "recall_sign_in"
    SYSTEM = "recall_system"
    OWNER = "none"
    """The login's own role, as `SET ROLE` calls it, of a connection made with the owner's login."""


WAYS: Final[Mapping[str, tuple[Role, str]]] = {
    "sign-in": (
        Role.SIGN_IN,
        "Addresses, passwords and keys are looked up before it is known whose they are.",
    ),
    "staff": (Role.SYSTEM, "The admin shows staff what their permissions allow, and logs each look."),
    "reader of a memory": (Role.SYSTEM, "A user sees the address of the member of staff who looked at their memory."),
    "row owner": (Role.SYSTEM, "A task knows a row's id: its owner is read, and the task then acts for them."),
    "clock": (Role.SYSTEM, "Due, stale, idle and old rows of everyone are found, queued, purged or embedded."),
    "start-up": (Role.SYSTEM, "Answers of a crashed process are closed, secrets are sealed, the demo user is made."),
    "metrics": (Role.SYSTEM, "Rows of everyone are counted."),
    "account deletion": (Role.SYSTEM, "Staff's log entries about the user's rows are deleted with them."),
    "command": (Role.SYSTEM, "The operator's own commands and shell."),
    "migrations": (Role.OWNER, "Tables, roles and policies are made and changed."),
    "index builds": (Role.OWNER, "Only a table's owner may build its indexes: those of large collections."),
    "vacuum": (Role.OWNER, "Only a table's owner may vacuum it: pages with forgotten rows."),
}
"""Every way past the acting user → its role, and why it is needed. Backups use the owner's login without Django."""


@dataclass(frozen=True, slots=True)
class Actor:
    """A role, and the user whose rows it sees."""

    role: Role
    user_id: int | None = None


NO_USER: Final = Actor(Role.USER)
_actor: ContextVar[Actor | None] = ContextVar("recall_actor", default=None)
_default = NO_USER


def current() -> Actor:
    """Who acts now."""
    return _actor.get() or _default


def act_for(user_id: int | None) -> None:
    """Act for this user, or for no user, until the end of the current context: a socket's task."""
    _actor.set(Actor(Role.USER, user_id))


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Let `actor` act within the block."""
    before = _actor.get()
    _actor.set(actor)
    try:
        yield
    finally:
        _actor.set(before)


def as_user(user_id: int | None) -> _GeneratorContextManager[None]:
    """Act for this user within the block, or for no user."""
    return acting(Actor(Role.USER, user_id))


def by(way: str) -> _GeneratorContextManager[None]:
    """Act in one of WAYS within the block or the decorated function. The user, if one acts, stays."""
    role, _ = WAYS[way]
    return _by(role)


@contextmanager
def _by(role: Role) -> Iterator[None]:
    with acting(Actor(role, current().user_id)):
        yield


@contextmanager
def searching_for(user_id: int) -> Iterator[None]:
    """Within the block the views `own_…` show this user's rows to those who see everyone's; others see their own."""
    actor = current()
    with acting(Actor(actor.role, user_id) if actor.role in (Role.SYSTEM, Role.OWNER) else actor):
        yield


def act_by_default(way: str) -> None:
    """Let this process act in one of WAYS where no one else does: the operator's commands."""
    global _default  # noqa: PLW0603 -- set once, before anything runs
    _default = Actor(WAYS[way][0])


def for_owner_of(model: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a task whose first argument is the id of a row: it acts for the row's owner, and ends if it is gone."""

    def decorate(task: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(task)
        def run(pk: Any, *args: Any) -> Any:
            with by("row owner"):
                owner = apps.get_model(model)._base_manager.filter(pk=pk).values_list("user_id", flat=True).first()
            if owner is None:
                return None
            return _run_for(owner, task, pk, *args)

        return run

    return decorate


def for_user_named(task: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a task whose first argument is a user's id: it acts for that user."""

    @wraps(task)
    def run(user_id: int, *args: Any) -> Any:
        return _run_for(user_id, task, user_id, *args)

    return run


def _run_for(user_id: int, task: Callable[..., Any], *args: Any) -> Any:
    """Run it for the user; if the account is deleted meanwhile, there is nothing left to do."""
    with as_user(user_id):
        try:
            return task(*args)
        except get_user_model().DoesNotExist:
            logger.info("A task of user %s ended early: the account was deleted.", user_id)
            return None
