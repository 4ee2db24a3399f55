"""Forgetting everything: erases every row of the user except `STAYING`, including models added later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from django.db import models

from memory.forgetting.residue import owned_models
from memory.models import PersonalIndex

if TYPE_CHECKING:
    from accounts.models import User

STAYING: Final[Mapping[str, str]] = {
    "memory.Forgetting": "the proof that it was forgotten, in numbers",
    "memory.ForgetList": "the key of the forget list",
    "memory.Tombstone": "what must not come back, as keyed digests",
    "memory.KindPolicy": "what may be remembered in the future",
    "memory.PersonalIndex": "how large the collection is; its words go",
    "budget.BudgetPlan": "how prompts are divided, in numbers",
    "budget.Limit": "what may be used, in numbers",
    "budget.UsageDay": "what was used and paid, in numbers",
    "accounts.AccessLog": "who of the staff looked, at which number",
}
"""Rows that stay, and why: none contains the user's words."""


def erasable_models() -> Iterator[type[models.Model]]:
    """Models whose rows of the user are all erased."""
    return (model for model in owned_models() if model._meta.label not in STAYING)


def count_rows(user: User) -> dict[str, int]:
    """What would be erased: model name → rows, most first."""
    counts = {
        str(model._meta.verbose_name): model._base_manager.filter(user=user.pk).count() for model in erasable_models()
    }
    return dict(sorted(((name, count) for name, count in counts.items() if count), key=lambda pair: -pair[1]))


def erase(user: User) -> None:
    """Erase it, within the caller's transaction, which has the user row locked."""
    for model in erasable_models():
        model._base_manager.filter(user=user.pk).delete()
    PersonalIndex.objects.for_user(user).update(common_words={}, rows=0)
