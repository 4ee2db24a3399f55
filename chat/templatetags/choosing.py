"""What templates show of a conversation's role, project, model and effort, and what can be chosen instead."""

from __future__ import annotations

from dataclasses import dataclass, field

from django import template
from django.conf import settings
from django.http import HttpRequest

from accounts.models import User
from chat.conversations.model_choice import (
    EFFORTS,
    TYPED_MODEL,
    ModelChoice,
    accepts_any_name,
    defaults_of,
    label_of,
    models_for,
)
from chat.conversations.options import CACHE_NOTICE
from chat.models import Conversation, Project, Role
from chat.projects.project_scope import project_of
from chat.projects.projects import projects_of

register = template.Library()


@dataclass(frozen=True, slots=True)
class Choosing:
    """What a form of choices offers, and what stands in it."""

    roles: list[Role]
    projects: list[Project]
    models: list[ModelChoice]
    role: Role | None
    project: Project | None
    model: str
    effort: str
    only_project: bool
    says: str = ""
    """What it costs to choose something else."""
    efforts: list[tuple[str, str]] = field(default_factory=lambda: list(EFFORTS.items()))
    accepts_any_name: bool = field(default_factory=accepts_any_name)
    typed_model: str = TYPED_MODEL

    @property
    def model_label(self) -> str:
        """The model as people say it."""
        return label_of(self.model)

    @property
    def has_any_effort(self) -> bool:
        """Whether any model that is offered lets one choose its effort."""
        return any(one.has_effort for one in self.models)


@register.simple_tag
def choices_of(conversation: Conversation) -> Choosing:
    """Of a conversation. Two statements; one more where its project was put away."""
    user, model = conversation.user, conversation.model or settings.ENVIRONMENT.chat_model
    roles = list(Role.objects.for_user(user).order_by("name"))
    projects = list(projects_of(user))
    project = next((one for one in projects if one.path == conversation.scope), None) or project_of(conversation)
    return Choosing(
        roles=roles,
        projects=projects if project is None or project in projects else [*projects, project],
        models=models_for(user, model),
        role=next((one for one in roles if one.pk == conversation.role_id), None),
        project=project,
        model=model,
        effort=conversation.effort,
        only_project=conversation.only_project,
        says=CACHE_NOTICE if conversation.active_leaf_id is not None else "",
    )


@register.simple_tag
def choices_for_new(request: HttpRequest) -> Choosing:
    """Of a conversation that is yet to be begun: the person's defaults, and what `?project=` and `?role=` name."""
    user = request.user
    assert isinstance(user, User)
    roles, projects = list(Role.objects.for_user(user).order_by("name")), list(projects_of(user))
    project = next((one for one in projects if str(one.pk) == request.GET.get("project")), None)
    model, effort = defaults_of(user)
    return Choosing(
        roles=roles,
        projects=projects,
        models=models_for(user),
        role=next((one for one in roles if str(one.pk) == request.GET.get("role")), None),
        project=project,
        model=model or settings.ENVIRONMENT.chat_model,
        effort=effort,
        only_project=project is not None and project.only_project,
    )
