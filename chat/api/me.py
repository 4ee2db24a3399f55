"""Operations on the calling user: preferences, the scopes of the key, and the access log."""

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
from recall.openapi.problems import refused_with

router = Router(tags=["settings"])

LATEST: Final = ("-at", "-pk")


class Person(Schema):
    """The calling user, and the scopes of the key."""

    email: str
    preferred_name: str
    time_zone: str
    language: Language = Field(description="The language the user writes in, for word forms in search")
    relationship_stage: Literal["", "NEW", "DEVELOPING", "COMFORTABLE", "TRUSTED"] = Field(
        description="Tone, as set by the user; empty for automatic"
    )
    chat_model: str = Field(description="For new conversations; empty for the default")
    effort: str = Field(description="For new conversations; empty for the model's default")
    key: str = Field(description="The name of the API key; empty for a session")
    scopes: list[str] = Field(description="The scopes of the key; all for a session")


class Preferences(Schema):
    """The preferences to change; omitted ones stay."""

    preferred_name: str | None = Field(None, max_length=80)
    time_zone: str | None = Field(None, max_length=64, description="For example Europe/Lisbon")
    language: Language | None = None
    relationship_stage: Literal["", "NEW", "DEVELOPING", "COMFORTABLE", "TRUSTED"] | None = None
    chat_model: str | None = Field(None, max_length=80)
    effort: Literal["", "low", "medium", "high"] | None = None


@router.get("", response=Person, auth=require_scope("settings"), summary="Get the current user")
def get_me(request: HttpRequest) -> Any:
    """Preferences, and the scopes of the key."""
    return _build_user(request)


@router.patch("", response=Person, auth=require_scope("settings"), summary="Change preferences")
def change_me(request: HttpRequest, payload: Preferences) -> Any:
    """Name, time zone, language, tone, and the defaults of new conversations."""
    user, named = person(request), payload.model_dump(exclude_none=True)
    if payload.time_zone is not None:
        validate_time_zone(payload.time_zone)
    with refused_with(HTTPStatus.UNPROCESSABLE_ENTITY, ModelNotOfferedError):
        model = validate_model(named.get("chat_model", user.chat_model))
        if "effort" in named:
            named["effort"] = validate_effort(named["effort"], model)
    if "chat_model" in named:
        named["chat_model"] = model
    for name, value in named.items():
        setattr(user, name, value)
    if named:
        user.save(update_fields=list(named))
    if "language" in named:
        language_change.request_rebuild(user.pk)
    return _build_user(request)


def _build_user(request: HttpRequest) -> dict[str, Any]:
    caller = get_caller(request)
    named = ("email", "preferred_name", "time_zone", "language", "relationship_stage", "chat_model", "effort")
    return {
        **{name: getattr(caller.user, name) for name in named},
        "key": caller.key.name if caller.key else "",
        "scopes": [scope for scope in SCOPES if caller.has_scope(scope)],
    }


class Look(Schema):
    """A staff member opened some of your data."""

    reader: str
    what: str
    at: datetime

    @staticmethod
    def resolve_reader(look: AccessLog) -> str:
        """The reader's name; empty if the account was deleted."""
        return look.reader.get_short_name() if look.reader is not None else ""


@router.get("/looks", response=Page[Look], auth=require_scope("settings"), summary="List the access log")
def list_looks(request: HttpRequest, query: Query[Paging]) -> Any:
    """Latest first: who opened what, and when. Never its text."""
    return paginate(request, access_log.latest(person(request)), LATEST, query)
