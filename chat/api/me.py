"""The person who calls: their preferences, what their key may do, and who of the staff looked at their memory."""

from __future__ import annotations

from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from accounts.api.auth import get_caller, person, require_scope
from accounts.api.scopes import SCOPES
from accounts.languages import Language
from accounts.models import AccessLog, validate_time_zone
from accounts.staff import access_log
from chat.conversations.model_choice import ModelNotOfferedError, validate_effort, validate_model
from memory.index import language_change
from recall.openapi.pagination import Page, Paging, paginate
from recall.openapi.problems import ProblemError

router = Router(tags=["settings"])

LATEST: Final = ("-at", "-pk")


class Person(Schema):
    """Whoever calls."""

    email: str
    preferred_name: str
    time_zone: str
    language: Language = Field(description="That the person writes in, by which the words of memories are found")
    relationship_stage: Literal["", "NEW", "DEVELOPING", "COMFORTABLE", "TRUSTED"] = Field(
        description="How well the person and Recall know each other, as the person set it; empty: it grows by itself"
    )
    chat_model: str = Field(description="For new conversations; empty: the installation's")
    effort: str = Field(description="For new conversations; empty: the model's default")
    key: str = Field(description="The name of the key that calls; empty: a session")
    scopes: list[str] = Field(description="What this caller may do")


class Preferences(Schema):
    """What to change; what is not named stays."""

    preferred_name: str | None = Field(None, max_length=80)
    time_zone: str | None = Field(None, max_length=64, description="Such as Europe/Lisbon")
    language: Language | None = None
    relationship_stage: Literal["", "NEW", "DEVELOPING", "COMFORTABLE", "TRUSTED"] | None = None
    chat_model: str | None = Field(None, max_length=80)
    effort: Literal["", "low", "medium", "high"] | None = None


@router.get("", response=Person, auth=require_scope("settings"), summary="Who am I?", operation_id="get_me")
def get_me(request: HttpRequest) -> Any:
    """Preferences, and what the caller may do."""
    return _told(request)


@router.patch(
    "", response=Person, auth=require_scope("settings"), summary="Change preferences", operation_id="change_me"
)
def change_me(request: HttpRequest, given: Preferences) -> Any:
    """Name, time zone, how familiar to be, and what new conversations begin with."""
    user, named = person(request), given.model_dump(exclude_none=True)
    if given.time_zone is not None:
        validate_time_zone(given.time_zone)
    try:
        model = validate_model(named.get("chat_model", user.chat_model))
        if "effort" in named:
            named["effort"] = validate_effort(named["effort"], model)
    except ModelNotOfferedError as refused:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, str(refused)) from refused
    if "chat_model" in named:
        named["chat_model"] = model
    for name, value in named.items():
        setattr(user, name, value)
    if named:
        user.save(update_fields=list(named))
    if "language" in named:
        language_change.look(user.pk)
    return _told(request)


def _told(request: HttpRequest) -> dict[str, Any]:
    caller = get_caller(request)
    named = ("email", "preferred_name", "time_zone", "language", "relationship_stage", "chat_model", "effort")
    return {
        **{name: getattr(caller.user, name) for name in named},
        "key": caller.key.name if caller.key else "",
        "scopes": [scope for scope in SCOPES if caller.has_scope(scope)],
    }


class Look(Schema):
    """Somebody of the staff looked at what is yours."""

    reader: str
    what: str
    at: datetime

    @staticmethod
    def resolve_reader(look: AccessLog) -> str:
        """By what they are called; an account that was deleted has no name left."""
        return look.reader.get_short_name() if look.reader is not None else ""


@router.get(
    "/looks",
    response=Page[Look],
    auth=require_scope("settings"),
    summary="Who looked at my memory?",
    operation_id="list_looks",
)
def list_looks(request: HttpRequest, given: Query[Paging]) -> Any:
    """The latest first: who, at what and when. Never its text."""
    return paginate(request, access_log.latest(person(request)), LATEST, given)
