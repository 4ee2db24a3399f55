"""The settings: their navigation, and what each page shows. allauth's pages belong to the section above them."""

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
from chat.conversations import retention
from chat.conversations.model_choice import EFFORTS, accepts_any_name, defaults_of, has_effort, models_for


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the navigation."""

    label: str
    url_name: str
    beneath: tuple[str, ...] = ()
    """Prefixes of other URLs that belong to it."""
    words: str = ""
    """Search words for the palette (chat/pages/palette.py)."""


SECTIONS: Final = (
    Section(
        "Account",
        "settings_account",
        words="name time zone timezone language theme appearance light dark tone previews diagrams",
    ),
    Section("Model", "settings_model", words="effort thinking default"),
    Section(
        "Security",
        "settings_security",
        ("/accounts/2fa/", "/accounts/email/", "/accounts/password/", "/accounts/sessions/"),
        "sign-in password passkeys two-factor 2fa mfa totp second factor authenticator recovery codes e-mail email"
        " sessions devices browsers sign out everywhere",
    ),
    Section("API keys", "settings_keys", ("/settings/keys/",), "tokens mcp programs access"),
    Section(
        "Data",
        "settings_data",
        ("/accounts/delete", "/import"),
        "export import download privacy kept retention delete remove account",
    ),
)


def sections(path: str) -> list[tuple[str, str, bool]]:
    """Each section's label and URL, and whether the page at `path` belongs to it."""
    rows = [(section, reverse(section.url_name)) for section in SECTIONS]
    return [(section.label, url, path == url or path.startswith(section.beneath)) for section, url in rows]


# Account ---------------------------------------------------------------------------------------------------------


_NOT_PLACES: Final = ("Etc/", "SystemV/", "US/", "posix/", "right/")


def time_zones() -> list[str]:
    """The suggested time zones: places, by continent. The form accepts every name of the time zone database."""
    names = (name for name in available_timezones() if "/" in name and not name.startswith(_NOT_PLACES))
    return ["UTC", *sorted(names)]


# Model -----------------------------------------------------------------------------------------------------------


def model_choice(user: User) -> dict[str, Any]:
    """The models and efforts to choose from, and the user's choice."""
    model, effort = defaults_of(user)
    return {
        "models": models_for(user),
        "model": model,
        "any_name": accepts_any_name(),
        "efforts": [(value, label, value == effort) for value, label in EFFORTS.items()],
        "has_effort": has_effort(model or settings.ENVIRONMENT.chat_model),
    }


# API keys --------------------------------------------------------------------------------------------------------

LIFETIMES: Final[Mapping[str, tuple[str, timedelta | None]]] = {
    "30": ("30 days", timedelta(days=30)),
    "90": ("90 days", timedelta(days=90)),
    "365": ("1 year", timedelta(days=365)),
    "": ("Never", None),
}
"""Lifetimes of a new key."""
DEFAULT_LIFETIME: Final = "90"
DEFAULT_SCOPES: Final = ("chat:read", "memory:read")
"""Read-only; the user must choose anything more."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """A key in the list."""

    key: ApiKey
    scopes: tuple[str, ...]
    ended: str
    """Why it no longer works: “revoked” or “expired”; empty if it works."""


def key_rows(user: User, now: datetime) -> list[KeyRow]:
    """The user's keys: working ones first, then the newest."""
    rows = [_build_key_row(key, now) for key in ApiKey.objects.filter(user=user)]
    return sorted(rows, key=lambda row: bool(row.ended))


def _build_key_row(key: ApiKey, now: datetime) -> KeyRow:
    expired = key.expires_at is not None and key.expires_at <= now
    ended = "revoked" if key.revoked_at else "expired" if expired else ""
    return KeyRow(key, tuple(scope for scope in key.scopes if scope in SCOPES), ended)


def key_form(data: Mapping[str, Any] | None, chosen: Iterable[str] = ()) -> dict[str, Any]:
    """The form for a new key: with the submitted `data`, or with defaults."""
    ticked = set(DEFAULT_SCOPES if data is None else chosen)
    lifetime = DEFAULT_LIFETIME if data is None else data.get("lifetime", "")
    return {
        "name": "" if data is None else data.get("name", ""),
        "scopes": [(name, sentence, name in ticked) for name, sentence in SCOPES.items()],
        "lifetimes": [(days, label, days == lifetime) for days, (label, _) in LIFETIMES.items()],
    }


# Data ------------------------------------------------------------------------------------------------------------


def stored_data(user: User) -> dict[str, Any]:
    """Counts of the user's rows, and the retention periods in days."""
    return {"what": deletion.count_owned_rows(user), "days": retention.periods()}
