"""Models and efforts a user can choose from. Settings, the menu and the API all read them here.

The list follows from the configured server (`offered_names`). The server knows what a model can do, and each turn asks
it (`recall/llm/client.py`); pages don't wait for that and use the short table here.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

from accounts.models import User
from budget.spending import limits
from budget.spending.prices import LIST_PRICES
from chat.models import Conversation
from recall.figures import money
from recall.llm.client import cached_capabilities, configured_capabilities

OFFLINE_MODELS: Final = ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5")
"""Names the offline server answers to (offline/models.py); the same demo answers behind each."""
FIRST_PARTY_HOSTS: Final = ("api.anthropic.com",)
"""Servers with the models of the price list. Any other server has its own models, so any name may be typed."""
WITHOUT_EFFORT: Final = frozenset({"claude-sonnet-4-5", "claude-haiku-4-5"})
"""Models of the price list without an effort setting."""
EFFORTS: Final[Mapping[str, str]] = dict(Conversation.Effort.choices)
"""Value → label. The provider has two more above “high”, which answer for minutes: too slow for chat."""
TYPED_MODEL: Final = "other"
"""Value in the list of models for a name typed in the field beside it."""
MAX_NAME_LENGTH: Final = 80
"""Characters of `Conversation.model`."""
_NAME: Final = re.compile(r"[\w.:@/+-]{1,80}", re.ASCII)
"""Valid model names on other servers: `qwen3:8b`, `openai/gpt-oss-20b`."""
_CLAUDE: Final = re.compile(r"claude-([a-z]+)-(\d+)(?:-(\d+))?")


class ModelNotOfferedError(ValueError):
    """The model or effort doesn't exist; the message is one sentence for the user."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One model of the list."""

    name: str
    """The name by which the server knows it."""
    label: str
    price: str
    """“$2 in, $10 out” per million tokens; empty if unknown."""
    has_effort: bool
    is_default: bool
    """Whether it answers when nothing is chosen: the installation's CHAT_MODEL."""


def models_for(user: User, *more: str) -> list[ModelChoice]:
    """The models this user can choose from, the installation's first; `more`: names already chosen."""
    names = dict.fromkeys([*offered_names(), user.chat_model, *more])
    return [_build_choice(name) for name in names if name]


def offered_names() -> list[str]:
    """Names this installation's server is known to have, CHAT_MODEL first."""
    default: str = settings.ENVIRONMENT.chat_model
    if settings.IS_OFFLINE:
        return list(dict.fromkeys([default, *OFFLINE_MODELS]))
    if accepts_any_name():
        return [default]
    return list(dict.fromkeys([default, *(price.model for price in LIST_PRICES)]))


def accepts_any_name() -> bool:
    """Whether any name may be typed, because the server's models aren't known."""
    address: str | None = settings.ENVIRONMENT.anthropic_base_url
    return not settings.IS_OFFLINE and address is not None and urlsplit(address).hostname not in FIRST_PARTY_HOSTS


def validate_model(name: str) -> str:
    """Validate a model name and return the value to store. Empty means the installation's model, also after that
    changes.

    Raises:
        ModelNotOfferedError: the server has no such model, as far as is known.
    """
    name = name.strip()
    if not name or name == settings.ENVIRONMENT.chat_model:
        return ""
    if accepts_any_name():
        if _NAME.fullmatch(name) is None:
            raise ModelNotOfferedError(
                f"“{name[:MAX_NAME_LENGTH]}” is not a valid model name. Use letters, digits and . : / - _ @ +."
            )
        return name
    if name not in offered_names():
        raise ModelNotOfferedError(
            f"Model “{name[:MAX_NAME_LENGTH]}” is not available. Choose one of: {', '.join(offered_names())}."
        )
    return name


def validate_effort(effort: str, model: str) -> str:
    """Validate an effort and return the value to store; empty (the default) for a model without efforts.

    Raises:
        ModelNotOfferedError: there is no such effort.
    """
    if effort not in EFFORTS:
        raise ModelNotOfferedError(
            f"Effort “{effort[:20]}” is not available. Choose one of: {', '.join(filter(None, EFFORTS))}."
        )
    return effort if has_effort(model or settings.ENVIRONMENT.chat_model) else ""


def must_use_rules(user: User) -> bool:
    """Whether compaction uses rules and a title stays as it is, because a limit of tokens or money is reached.

    They aren't postponed, as the librarian's reading is (`chat/ingest/source.py`): the next prompt has to fit.
    """
    return limits.stops_spending(user) is not None


def defaults_of(user: User) -> tuple[str, str]:
    """Model and effort of this user's new conversations; a model no longer offered counts as not chosen."""
    try:
        model = validate_model(user.chat_model)
        return model, validate_effort(user.effort, model)
    except ModelNotOfferedError:
        return "", ""


def has_effort(model: str) -> bool:
    """Whether the model's effort can be chosen. Another server says so itself, or else its operator does."""
    if not accepts_any_name():
        return model not in WITHOUT_EFFORT
    return (cached_capabilities(model) or configured_capabilities()).effort


def label_of(model: str) -> str:
    """`claude-sonnet-5-5` as a product name; other names unchanged."""
    match = _CLAUDE.fullmatch(model)
    return f"Claude {match[1].capitalize()} {'.'.join(filter(None, match.groups()[1:]))}" if match else model


def _build_choice(name: str) -> ModelChoice:
    is_default = name == settings.ENVIRONMENT.chat_model
    return ModelChoice(name, label_of(name), _price(name), has_effort(name), is_default)


def _price(name: str) -> str:
    """Price by the price list; empty if another server answers to the name."""
    listed = () if settings.IS_OFFLINE or accepts_any_name() else LIST_PRICES
    price = next((price for price in listed if price.model == name and not price.from_input_tokens), None)
    return f"{money(price.input)} in, {money(price.output)} out" if price else ""
