"""Conversation options: role, project, model and effort, with their defaults and later changes.

A new conversation takes what was chosen for it, else the defaults of the project and the user. Each option can be
changed at any time, for the next answer on. All precede the history in the request, so a change invalidates the
provider's cache once.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import QuerySet

from accounts.models import User
from chat.conversations.model_choice import defaults_of, label_of, validate_effort, validate_model
from chat.models import Conversation, Project, Role
from chat.projects.project_scope import project_of
from chat.protocol import NO_OPTIONS, ConversationOptions
from recall.db.notify import publish_event

CACHE_NOTICE: Final = "The next answer uses it and costs more, because the provider’s cache has to be rebuilt."
"""Added when an option that precedes the history changes, in a conversation that has messages."""
NO_SUCH_ROLE: Final = "Role not found."
NO_SUCH_PROJECT: Final = "Project not found."


class OptionNotFoundError(ValueError):
    """The role or project doesn't exist or isn't the user's; the message is one sentence."""


def initial_fields(user: User, chosen: ConversationOptions = NO_OPTIONS) -> dict[str, Any]:
    """Fields of a new conversation.

    Raises:
        OptionNotFoundError: the user has no such role or project.
        ModelNotOfferedError: there is no such model or effort.
    """
    model, effort = defaults_of(user)
    if chosen.model is not None:
        model = validate_model(chosen.model)
    effort = validate_effort(effort if chosen.effort is None else chosen.effort, model)
    project = _get_own(Project.objects.for_user(user), chosen.project, NO_SUCH_PROJECT)
    only = bool(project and (project.only_project if chosen.only_project is None else chosen.only_project))
    scope = project.path if project else ""
    return {
        "role": _get_own(Role.objects.for_user(user), chosen.role, NO_SUCH_ROLE),
        "scope": scope,
        "only_project": only,
        "model": model,
        "effort": effort,
    }


def update_options(conversation: Conversation, fields: Mapping[str, Any]) -> list[str]:
    """Set these fields, as from `initial_fields`; returns a sentence for each change, and one on the cache."""
    changed = [name for name in fields if getattr(conversation, name) != fields[name]]
    if not changed:
        return []
    before = _cached_prefix(conversation)
    for name in changed:
        setattr(conversation, name, fields[name])
    conversation.save(update_fields=changed)
    publish_event(f"user-{conversation.user_id}", "conversations")
    descriptions = _describe_options(conversation)
    sentences = [descriptions[name] for name in changed]
    is_cache_lost = conversation.active_leaf_id is not None and _cached_prefix(conversation) != before
    return [*sentences, CACHE_NOTICE] if is_cache_lost else sentences


def _cached_prefix(conversation: Conversation) -> tuple[str, ...]:
    role, project = conversation.role, project_of(conversation)
    texts = (role.prompt_text if role else "", project.prompt_text if project else "")
    return (*texts, conversation.model, conversation.effort)


def _get_own[M: (Role, Project)](own: QuerySet[M], pk: int | None, missing: str) -> M | None:
    if pk is None:
        return None
    found = own.filter(pk=pk).first()
    if found is None:
        raise OptionNotFoundError(missing)
    return found


def _describe_options(conversation: Conversation) -> dict[str, str]:
    model = label_of(conversation.model) if conversation.model else "the default model"
    return {
        "role": f"Role changed to “{conversation.role}”." if conversation.role else "Role removed.",
        "scope": f"Moved to {conversation.scope}." if conversation.scope else "Removed from its project.",
        "only_project": "Now using only this project’s memories."
        if conversation.only_project
        else "Now using all memories, this project’s first.",
        "model": f"Model changed to {model}.",
        "effort": f"Effort changed to {conversation.get_effort_display().lower()}."
        if conversation.effort
        else "Effort changed to the model’s default.",
    }
