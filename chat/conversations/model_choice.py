"""Which models can a person choose between, and with which effort? One place for the settings, the menu and the API.

Which there are follows from the server that answers (`offered_names`). What one can do is the server's to say, and a
turn asks it (`recall/llm/client.py`); so that no page waits for that, a short table here says what is known before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings

from accounts.models import User
from budget.spending import limits
from budget.spending.prices import LIST_PRICES, ListPrice
from chat.models import Conversation
from recall.llm.client import cached_capabilities, configured_capabilities

OFFLINE_MODELS: Final = ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5")
"""Names that the offline server answers to (offline/protocol/models.py); behind each answers the same demonstration."""
FIRST_PARTY_HOSTS: Final = ("api.anthropic.com",)
"""Servers that have the models of the price list. Any other has what its operator put there: any name may be typed."""
WITHOUT_EFFORT: Final = frozenset({"claude-sonnet-4-5", "claude-haiku-4-5"})
"""Models of the price list that take no effort."""
EFFORTS: Final[Mapping[str, str]] = dict(Conversation.Effort.choices)
"""Value → label. The provider has two more above “high”; they answer for minutes, which is no way to talk."""
TYPED_MODEL: Final = "other"
"""Value in the list of models for a name typed in the field beside it."""
LONGEST_NAME: Final = 80
"""Characters of `Conversation.model`."""
_NAME: Final = re.compile(r"[\w.:@/+-]{1,80}", re.ASCII)
"""What a server may call a model: `qwen3:8b`, `openai/gpt-oss-20b`."""
_OURS: Final = re.compile(r"claude-([a-z]+)-(\d+)(?:-(\d+))?")


class ModelNotOfferedError(ValueError):
    """There is no such model or effort to choose; the message is one sentence for the person."""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One model as a list offers it."""

    name: str
    """As the server knows it."""
    label: str
    price: str
    """“$2 in, $10 out” per million tokens; empty: not known."""
    has_effort: bool
    is_default: bool
    """It answers where nothing is chosen: the installation's CHAT_MODEL."""


def models_for(user: User, *more: str) -> list[ModelChoice]:
    """What this person can choose between, the installation's model first; `more`: names that are chosen already."""
    names = dict.fromkeys([*offered_names(), user.chat_model, *more])
    return [_choice(name) for name in names if name]


def offered_names() -> list[str]:
    """The names this installation's server is known to have, CHAT_MODEL first."""
    default: str = settings.ENVIRONMENT.chat_model
    if settings.IS_OFFLINE:
        return list(dict.fromkeys([default, *OFFLINE_MODELS]))
    if takes_any_name():
        return [default]
    return list(dict.fromkeys([default, *(price.model for price in LIST_PRICES)]))


def takes_any_name() -> bool:
    """Whether a name may be typed: the server is not one whose models are known."""
    address: str | None = settings.ENVIRONMENT.anthropic_base_url
    return not settings.IS_OFFLINE and address is not None and urlsplit(address).hostname not in FIRST_PARTY_HOSTS


def checked_model(name: str) -> str:
    """The model as it is stored: empty stands for the installation's, also once that is another.

    Raises:
        NotOffered: the server has no model of this name, as far as is known.
    """
    name = name.strip()
    if not name or name == settings.ENVIRONMENT.chat_model:
        return ""
    if takes_any_name():
        if _NAME.fullmatch(name) is None:
            raise ModelNotOfferedError(
                f"“{name[:LONGEST_NAME]}” is no name of a model: letters, digits and . : / - _ @ +."
            )
        return name
    if name not in offered_names():
        raise ModelNotOfferedError(
            f"There is no model “{name[:LONGEST_NAME]}” here; there are {', '.join(offered_names())}."
        )
    return name


def checked_effort(effort: str, model: str) -> str:
    """The effort as it is stored: empty is the model's default, and stands where the model has none to choose.

    Raises:
        NotOffered: there is no such effort.
    """
    if effort not in EFFORTS:
        raise ModelNotOfferedError(f"There is no effort “{effort[:20]}”; there are {', '.join(filter(None, EFFORTS))}.")
    return effort if has_effort(model or settings.ENVIRONMENT.chat_model) else ""


def must_use_rules(user: User) -> bool:
    """Whether compaction and titles use rules instead of a model, because a limit of tokens or money is reached.

    They are not postponed, as the librarian's reading is (`chat/ingest/source.py`): the next prompt has to fit.
    """
    return limits.stops_spending(user) is not None


def defaults_of(user: User) -> tuple[str, str]:
    """Model and effort of this person's new conversations; what is not offered any more stands for nothing chosen."""
    try:
        model = checked_model(user.chat_model)
        return model, checked_effort(user.effort, model)
    except ModelNotOfferedError:
        return "", ""


def has_effort(model: str) -> bool:
    """Whether one can choose how much effort it takes; of somebody else's server as it says, else as its operator."""
    if not takes_any_name():
        return model not in WITHOUT_EFFORT
    return (cached_capabilities(model) or configured_capabilities()).effort


def label_of(model: str) -> str:
    """`claude-sonnet-5-5` as people say it; another name as it is."""
    ours = _OURS.fullmatch(model)
    return f"Claude {ours[1].capitalize()} {'.'.join(filter(None, ours.groups()[1:]))}" if ours else model


def _choice(name: str) -> ModelChoice:
    is_default = name == settings.ENVIRONMENT.chat_model
    return ModelChoice(name, label_of(name), _price(_listed(name)), has_effort(name), is_default)


def _listed(name: str) -> Iterator[ListPrice]:
    """What it costs on the price list; nothing, where somebody else's server answers to the name."""
    prices: Iterable[ListPrice] = () if settings.IS_OFFLINE or takes_any_name() else LIST_PRICES
    return (price for price in prices if price.model == name and not price.from_input_tokens)


def _price(listed: Iterator[ListPrice]) -> str:
    price = next(listed, None)
    return f"${price.input.normalize():f} in, ${price.output.normalize():f} out" if price else ""
