"""Template tags for a conversation's options: role, project, model and effort, with the choices for each."""

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
    """The choices of an options form, and its current values."""

    roles: list[Role]
    projects: list[Project]
    models: list[ModelChoice]
    role: Role | None
    project: Project | None
    model: str
    effort: str
    only_project: bool
    says: str = ""
    """A warning that changing something costs tokens."""
    efforts: list[tuple[str, str]] = field(default_factory=lambda: list(EFFORTS.items()))
    accepts_any_name: bool = field(default_factory=accepts_any_name)
    typed_model: str = TYPED_MODEL

    @property
    def model_label(self) -> str:
        """The model's display name."""
        return label_of(self.model)

    @property
    def has_any_effort(self) -> bool:
        """Whether any offered model has an effort setting."""
        return any(model.has_effort for model in self.models)


@register.simple_tag
def choices_of(conversation: Conversation) -> Choosing:
    """The options of a conversation. Two queries; one more if its project is archived."""
    user, model = conversation.user, conversation.model or settings.ENVIRONMENT.chat_model
    roles = list(Role.objects.for_user(user).order_by("name"))
    projects = list(projects_of(user))
    project = next((each for each in projects if each.path == conversation.scope), None) or project_of(conversation)
    return Choosing(
        roles=roles,
        projects=projects if project is None or project in projects else [*projects, project],
        models=models_for(user, model),
        role=next((role for role in roles if role.pk == conversation.role_id), None),
        project=project,
        model=model,
        effort=conversation.effort,
        only_project=conversation.only_project,
        says=CACHE_NOTICE if conversation.active_leaf_id is not None else "",
    )


@register.simple_tag
def choices_for_new(request: HttpRequest) -> Choosing:
    """The options of a new conversation: the user's defaults, and the rows that `?project=` and `?role=` name."""
    user = request.user
    assert isinstance(user, User)
    roles, projects = list(Role.objects.for_user(user).order_by("name")), list(projects_of(user))
    project = next((each for each in projects if str(each.pk) == request.GET.get("project")), None)
    model, effort = defaults_of(user)
    return Choosing(
        roles=roles,
        projects=projects,
        models=models_for(user),
        role=next((each for each in roles if str(each.pk) == request.GET.get("role")), None),
        project=project,
        model=model or settings.ENVIRONMENT.chat_model,
        effort=effort,
        only_project=project is not None and project.only_project,
    )
