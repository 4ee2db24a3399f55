"""What does a conversation begin with, and what may be changed while it goes on? Role, project, model and effort.

A new one takes what was chosen for it, else the project's and the person's defaults. Later each may be changed at any
time: the next answer goes by it. All of them stand before the history in the request, so that the provider's cache has
no use for what it kept: that one answer reads the conversation at the full price, and the sentence says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from accounts.models import User
from chat.conversations.model_choice import checked_effort, checked_model, defaults_of, label_of
from chat.models import Conversation, Project, Role
from chat.projects.project_scope import project_of
from chat.protocol import NO_OPTIONS, ConversationOptions
from recall.db.notify import publish_event

WRITES_CACHE_ANEW: Final = (
    "The next answer goes by it, and writes the provider’s cache anew, so that it costs more than the others."
)
"""Said where something is changed that stands before the history, in a conversation that has begun."""
NO_SUCH_ROLE: Final = "There is no such role of yours."
NO_SUCH_PROJECT: Final = "There is no such project of yours."


class OptionNotFoundError(ValueError):
    """The role or project that was chosen is not there, or not this person's; the message is one sentence."""


def initial_fields(user: User, chosen: ConversationOptions = NO_OPTIONS) -> dict[str, Any]:
    """Fields of the new conversation.

    Raises:
        NotThere: the role or the project is not this person's.
        NotOffered: there is no such model or effort.
    """
    model, effort = defaults_of(user)
    if chosen.model is not None:
        model = checked_model(chosen.model)
    effort = checked_effort(effort if chosen.effort is None else chosen.effort, model)
    project = own_project(user, chosen.project)
    only = bool(project and (project.only_project if chosen.only_project is None else chosen.only_project))
    scope = project.path if project else ""
    return {
        "role": own_role(user, chosen.role),
        "scope": scope,
        "only_project": only,
        "model": model,
        "effort": effort,
    }


def update_options(conversation: Conversation, fields: Mapping[str, Any]) -> list[str]:
    """Give it these fields, as `beginning` tells them; a sentence for each that was other before, and on the cache."""
    changed = [name for name in fields if getattr(conversation, name) != fields[name]]
    if not changed:
        return []
    before = _stands_before_history(conversation)
    for name in changed:
        setattr(conversation, name, fields[name])
    conversation.save(update_fields=changed)
    publish_event(f"user-{conversation.user_id}", "conversations")
    told = _told(conversation)
    sentences = [told[name] for name in changed]
    is_anew = conversation.active_leaf_id is not None and _stands_before_history(conversation) != before
    return [*sentences, WRITES_CACHE_ANEW] if is_anew else sentences


def _stands_before_history(conversation: Conversation) -> tuple[str, ...]:
    role, project = conversation.role, project_of(conversation)
    told = (role.prompt_text if role else "", project.prompt_text if project else "")
    return (*told, conversation.model, conversation.effort)


def own_role(user: User, pk: int | None) -> Role | None:
    """The person's role; raises `NotThere`."""
    if pk is None:
        return None
    role = Role.objects.for_user(user).filter(pk=pk).first()
    if role is None:
        raise OptionNotFoundError(NO_SUCH_ROLE)
    return role


def own_project(user: User, pk: int | None) -> Project | None:
    """The person's project; raises `NotThere`."""
    if pk is None:
        return None
    project = Project.objects.for_user(user).filter(pk=pk).first()
    if project is None:
        raise OptionNotFoundError(NO_SUCH_PROJECT)
    return project


def _told(conversation: Conversation) -> dict[str, str]:
    model = label_of(conversation.model) if conversation.model else "this installation’s model"
    return {
        "role": f"The role is “{conversation.role}” now." if conversation.role else "It has no role now.",
        "scope": f"It belongs to {conversation.scope} now." if conversation.scope else "It belongs to no project now.",
        "only_project": "It recalls nothing from outside the project now."
        if conversation.only_project
        else "It recalls from everywhere now, its project first.",
        "model": f"It is answered by {model} now.",
        "effort": f"The effort is {conversation.get_effort_display().lower()} now."
        if conversation.effort
        else "The effort is the model’s default now.",
    }
