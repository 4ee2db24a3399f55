"""Roles: create, edit, delete and undo. Each edit raises the version; conversations keep their role."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet

from accounts.models import User
from chat.models import Conversation, Role
from chat.projects.undo_tokens import UndoExpiredError, load_undo, sign_undo
from recall.db.notify import publish_event
from recall.db.quotas import QuotaError, make_room

MAX_NAME: Final = 80
"""Characters of a name: the column's width."""
MAX_INSTRUCTIONS: Final = 8_000
"""Characters of the instructions of a role or project: about 2,000 tokens, four times what the standard plan reserves.
Longer texts belong in a document."""


@dataclass(frozen=True, slots=True)
class Example:
    """A sample role to copy; never inserted automatically."""

    name: str
    instructions: str


EXAMPLES: Final = (
    Example(
        "Patient Portuguese teacher",
        "Talk with me in simple European Portuguese. After each of my messages, first answer it, then correct at most "
        "two mistakes, each with one sentence on why. Use English only when I ask what something means.",
    ),
    Example(
        "Critical reader",
        "Read what I write as a demanding editor would. Name the weakest argument first, say what is missing, and "
        "quote the sentence you mean. Do not rewrite unless I ask, and do not praise.",
    ),
    Example(
        "Interviewer",
        "Help me think by asking. One question at a time, open ones, and build on my answer. When I say “sum up”, list "
        "what I decided and what is still open.",
    ),
    Example(
        "Cook with what is there",
        "Suggest meals from what I say is in the kitchen, for two people, in at most half an hour. Mind what you know "
        "of my allergies and tastes. Ask before you assume an ingredient.",
    ),
)


class NameTakenError(ValueError):
    """The user already has a role of this name; the message is one sentence."""


def roles_of(user: User) -> QuerySet[Role]:
    """The user's roles by name, each with `uses`: the number of its conversations."""
    not_deleted = Q(conversations__deleted_at=None)
    return Role.objects.for_user(user).annotate(uses=Count("conversations", filter=not_deleted)).order_by("name")


def unused_examples(roles: Iterable[Role]) -> list[Example]:
    """Samples the user hasn't copied yet, by name."""
    names = {role.name for role in roles}
    return [example for example in EXAMPLES if example.name not in names]


def create(user: User, name: str, instructions: str) -> Role:
    """Create a role.

    Raises:
        NameTakenError: the user has a role of this name.
        QuotaError: the user has too many.
    """
    return _save(Role(user=user, name=name, instructions=instructions))


def edit(role: Role, name: str, instructions: str) -> Role:
    """Change a role; the version goes up if anything changed.

    Raises:
        NameTakenError: the user has another role of this name.
    """
    if (name, instructions) == (role.name, role.instructions):
        return role
    role.name, role.instructions, role.version = name, instructions, role.version + 1
    return _save(role)


def remove(role: Role) -> str:
    """Delete the role; its conversations lose it. Returns the token for `restore`."""
    conversations = Conversation.objects.filter(role=role).values_list("pk", flat=True)
    token = sign_undo("role", role.user, {**_fields(role), "conversations": [str(pk) for pk in conversations]})
    role.delete()
    publish_event(f"user-{role.user_id}", "conversations")
    return token


@transaction.atomic
def restore(user: User, token: str) -> Role:
    """Restore the role in the conversations that had it and haven't got another since.

    Raises:
        UndoExpiredError: it was deleted too long ago, another role has its name now, or there are too many.
    """
    fields = load_undo("role", user, token)
    conversations = fields.pop("conversations")
    if Role.objects.filter(pk=fields["id"]).exists():
        raise UndoExpiredError("This role already exists.")
    try:
        role = _save(Role(user=user, **fields))
    except (NameTakenError, QuotaError) as refusal:
        raise UndoExpiredError(f"The role was not restored. {refusal}") from refusal
    Conversation.objects.for_user(user).filter(pk__in=conversations, role=None).update(role=role)
    return role


def _fields(role: Role) -> dict[str, Any]:
    return {"id": role.pk, "name": role.name, "instructions": role.instructions, "version": role.version}


def _save(role: Role) -> Role:
    try:
        with transaction.atomic():
            if role._state.adding:
                make_room(Role.objects.for_user(role.user), role.user_id)
            role.save()
    except IntegrityError as error:  # `one_role_a_name`
        raise NameTakenError(f"You already have a role called “{role.name}”.") from error
    publish_event(f"user-{role.user_id}", "conversations")
    return role
