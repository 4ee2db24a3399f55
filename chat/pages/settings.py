"""Which pages are the settings, and what does each show? The table below is their navigation; allauth's own pages stand
in the same frame, below the section they belong to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from zoneinfo import available_timezones

from django.conf import settings
from django.urls import reverse

from accounts import deletion
from accounts.api.scopes import SCOPES
from accounts.models import ApiKey, User
from budget.planning.user_plan import LARGEST_TOTAL, plan_for
from chat.conversations import retention
from chat.conversations.model_choice import EFFORTS, accepts_any_name, defaults_of, has_effort, models_for
from memory.models import Boundary, Fact
from memory.pages.consolidation import tidied


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the navigation."""

    label: str
    url_name: str
    beneath: tuple[str, ...] = ()
    """Beginnings of other addresses that belong to it."""
    words: str = ""
    """What people call the things on it: the palette finds it by them (chat/pages/palette.py)."""


SECTIONS: Final = (
    Section("Profile", "settings", words="name time zone timezone language account"),
    Section("Model and budget", "settings_model", words="effort thinking plan default"),
    Section("Memory", "settings_memory", words="learns learning recall boundaries remember policies fades tidy"),
    Section("Appearance", "settings_appearance", words="theme light dark colours colors"),
    Section(
        "Sign-in",
        "settings_sign_in",
        ("/accounts/2fa/", "/accounts/email/", "/accounts/password/"),
        "password passkeys security two-factor 2fa mfa totp second factor authenticator recovery codes e-mail email",
    ),
    Section("Sessions", "settings_sessions", ("/accounts/sessions/",), "devices browsers sign out everywhere"),
    Section("API keys", "settings_keys", ("/settings/keys/",), "tokens mcp programs access"),
    Section(
        "Your data",
        "settings_data",
        ("/accounts/delete",),
        "export import download privacy kept retention delete remove account",
    ),
)


def sections(path: str) -> list[tuple[str, str, bool]]:
    """Each section's label and address, and whether the page at `path` belongs to it."""
    told = [(one, reverse(one.url_name)) for one in SECTIONS]
    return [(one.label, address, path == address or path.startswith(one.beneath)) for one, address in told]


# Profile ---------------------------------------------------------------------------------------------------------


_NOT_PLACES: Final = ("Etc/", "SystemV/", "US/", "posix/", "right/")


def time_zones() -> list[str]:
    """What the list offers: places, by continent. Other names of the time zone database are taken, too, if typed."""
    names = (name for name in available_timezones() if "/" in name and not name.startswith(_NOT_PLACES))
    return ["UTC", *sorted(names)]


# Model and budget ------------------------------------------------------------------------------------------------


def model_choice(user: User) -> dict[str, Any]:
    """What can be chosen for new conversations, what is, and the plan that every prompt keeps to."""
    model, effort = defaults_of(user)
    plan = plan_for(user, LARGEST_TOTAL)
    return {
        "models": models_for(user),
        "model": model,
        "any_name": accepts_any_name(),
        "efforts": [(value, label, value == effort) for value, label in EFFORTS.items()],
        "has_effort": has_effort(model or settings.ENVIRONMENT.chat_model),
        "plan": plan,
    }


# API keys --------------------------------------------------------------------------------------------------------

LIFETIMES: Final[Mapping[str, tuple[str, timedelta | None]]] = {
    "30": ("30 days", timedelta(days=30)),
    "90": ("90 days", timedelta(days=90)),
    "365": ("a year", timedelta(days=365)),
    "": ("no end", None),
}
"""How long a new key may hold. The first but one is proposed: long enough for a habit, short enough to be noticed."""
PROPOSED_LIFETIME: Final = "90"
PROPOSED_SCOPES: Final = ("chat:read", "memory:read")
"""Reading; whoever needs more ticks it knowingly."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key as the page tells of it."""

    key: ApiKey
    scopes: tuple[str, ...]
    """Its scopes' sentences."""
    ended: str
    """Why it opens nothing any more: “revoked” or “expired”; empty: it still does."""


def key_rows(user: User, now: datetime) -> list[KeyRow]:
    """The person's keys: those that work first, then the newest."""
    rows = [_key_row(key, now) for key in ApiKey.objects.filter(user=user)]
    return sorted(rows, key=lambda row: bool(row.ended))


def _key_row(key: ApiKey, now: datetime) -> KeyRow:
    expired = key.expires_at is not None and key.expires_at <= now
    ended = "revoked" if key.revoked_at else "expired" if expired else ""
    return KeyRow(key, tuple(scope for scope in key.scopes if scope in SCOPES), ended)


def new_key(asked: Mapping[str, Any] | None, chosen: Iterable[str] = ()) -> dict[str, Any]:
    """The form for a new key: as it was sent, or as it is proposed."""
    ticked = set(PROPOSED_SCOPES if asked is None else chosen)
    lifetime = PROPOSED_LIFETIME if asked is None else asked.get("lifetime", "")
    return {
        "name": "" if asked is None else asked.get("name", ""),
        "scopes": [(name, sentence, name in ticked) for name, sentence in SCOPES.items()],
        "lifetimes": [(days, label, days == lifetime) for days, (label, _) in LIFETIMES.items()],
    }


# Memory and data -------------------------------------------------------------------------------------------------


def memory(user: User) -> dict[str, Any]:
    """How much is known, waits, and is always said; what was tidied up lately."""
    facts = Fact.objects.for_user(user)
    return {
        "known": facts.filter(status=Fact.Status.ACTIVE).count(),
        "waiting": facts.proposed().count(),
        "boundaries": Boundary.objects.filter(user=user).count(),
        **tidied(user),
    }


def kept(user: User) -> dict[str, Any]:
    """What there is of the person, and how long it stays."""
    return {"what": deletion.count_owned_rows(user), "days": retention.periods()}
