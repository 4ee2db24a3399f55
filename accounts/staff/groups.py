"""Staff groups and their permissions. Staff without a group may do nothing; superusers need none.

    reviewer    decides proposals of all users and reads the facts they concern: memory texts, no accounts
    operator    keeps Recall running (users, usage, prices, keys, jobs): no memory texts

After each `migrate` the groups have exactly these permissions. For a different set, create a group with another name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from django.apps import AppConfig

LOOK: Final = ("view",)
ACT: Final = ("view", "change")
"""For records, “change” allows their actions (restart, revoke, undo), not editing."""
WRITE: Final = ("view", "add", "change", "delete")

GROUPS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "reviewer": {
        "memory.fact": ACT,  # the queue, and facts with their source
        "memory.reviewaction": ACT,  # decisions and undo
        "memory.factlink": LOOK,  # related and conflicting facts
        "memory.kindpolicy": LOOK,  # why a proposal needs review
        "memory.boundary": LOOK,
    },
    "operator": {
        "accounts.user": LOOK,
        "accounts.apikey": ACT,
        "accounts.idempotentrequest": LOOK,
        "memory.librarianrun": ACT,
        "memory.consolidation": LOOK,
        "memory.personalindex": LOOK,
        "memory.upload": ACT,
        "chat.compaction": ACT,
        "chat.importjob": ACT,
        "chat.importpart": LOOK,
        "budget.price": WRITE,
        "budget.usageday": LOOK,
        "budget.limit": WRITE,
        "budget.calibration": ("view", "delete"),  # a wrong ratio is deleted and learned again
    },
}
"""Group → model → rights. Anything else is forbidden."""


def refresh(sender: AppConfig, **_: Any) -> None:
    """Set the groups' permissions for one app, once that app's permissions exist (`post_migrate`)."""
    from django.contrib.auth.models import Group, Permission

    if not any(model.startswith(f"{sender.label}.") for rights in GROUPS.values() for model in rights):
        return
    for name in GROUPS:
        group, _made = Group.objects.get_or_create(name=name)
        wanted = codenames(name, sender.label)
        of_app = Permission.objects.filter(content_type__app_label=sender.label)
        group.permissions.remove(*of_app.filter(group=group).exclude(codename__in=wanted))
        group.permissions.add(*of_app.filter(codename__in=wanted))


def codenames(name: str, app: str) -> list[str]:
    """The permissions of group `name` in `app`, as Django spells them."""
    models = ((model.partition("."), rights) for model, rights in GROUPS[name].items())
    return [f"{right}_{model}" for (label, _, model), rights in models if label == app for right in rights]
