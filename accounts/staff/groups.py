"""What may staff do who are no superusers? What their groups may: reviewer, operator. Without a group: nothing.

    reviewer    decides on proposals of all people, and reads the facts they are about: memory texts, no accounts
    operator    keeps it running: people, what they use, prices, keys, jobs: no memory texts

The table is the truth: after each `migrate` the groups have these permissions and no others. Whoever is to have a
different set gets a group of another name. A superuser needs none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from django.apps import AppConfig
    from django.contrib.auth.models import Group

LOOK: Final = ("view",)
ACT: Final = ("view", "change")
"""Of what records what happened, “change” opens its actions (start again, revoke, undo), not its columns."""
WRITE: Final = ("view", "add", "change", "delete")

GROUPS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "reviewer": {
        "memory.fact": ACT,  # the queue, and facts with the words they rest on
        "memory.reviewaction": ACT,  # decisions, and undoing them
        "memory.factlink": LOOK,  # what a fact stands beside or against
        "memory.kindpolicy": LOOK,  # why a proposal waits
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
        "budget.calibration": ("view", "delete"),  # a ratio that went astray is deleted, and learned again
    },
}
"""Group → model → rights. What is not named is forbidden."""


def refresh(sender: AppConfig, **_: Any) -> None:
    """Give each group what the table says of one app, as soon as that app's permissions are there (`post_migrate`)."""
    from django.contrib.auth.models import Group

    if not any(model.startswith(f"{sender.label}.") for rights in GROUPS.values() for model in rights):
        return
    for name in GROUPS:
        group, _made = Group.objects.get_or_create(name=name)
        _set_rights(group, sender.label)


def _set_rights(group: Group, app: str) -> None:
    from django.contrib.auth.models import Permission

    wanted = set(codenames(group.name, app))
    of_app = Permission.objects.filter(content_type__app_label=app)
    group.permissions.remove(*of_app.filter(group=group).exclude(codename__in=wanted))
    group.permissions.add(*of_app.filter(codename__in=wanted))


def codenames(name: str, app: str) -> list[str]:
    """The permissions of group `name` in `app`, as Django spells them."""
    models = ((model.partition("."), rights) for model, rights in GROUPS[name].items())
    return [f"{right}_{model}" for (label, _, model), rights in models if label == app for right in rights]
