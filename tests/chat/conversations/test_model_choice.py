"""Model and effort are chosen per conversation, from what the server offers; new ones start with the user's
defaults."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from pydantic import ValidationError

from accounts.models import User
from budget.spending.prices import LIST_PRICES
from chat.conversations import model_choice
from chat.conversations.model_choice import (
    OFFLINE_MODELS,
    ModelNotOfferedError,
    defaults_of,
    has_effort,
    label_of,
    models_for,
    validate_effort,
    validate_model,
)
from chat.conversations.options import CACHE_NOTICE
from chat.models import Conversation
from chat.prompt.assemble import assemble_prompt
from chat.protocol import ConversationOptions, Send, parse
from chat.turn import TurnRejectedError
from chat.turns.intake import accept_message
from offline.protocol.models import MODELS
from recall.llm.client import Capabilities
from tests.chat.long_talk import ask, begin, numbered

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("offline_server")]

SONNET, HAIKU = "claude-sonnet-5-5", "claude-haiku-5-5"


def served_by(monkeypatch: pytest.MonkeyPatch, address: str | None, **environment: Any) -> None:
    """Use another provider than the offline server."""
    changed = settings.ENVIRONMENT.model_copy(update={"anthropic_base_url": address, **environment})
    monkeypatch.setattr(settings, "ENVIRONMENT", changed)
    monkeypatch.setattr(settings, "IS_OFFLINE", False)


@pytest.fixture
def her(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


# What there is to choose -----------------------------------------------------------------------------------------


def test_offline_only_models_are_offered_that_the_offline_server_has(alice: User) -> None:
    names = [one.name for one in models_for(alice)]

    assert names[0] == SONNET
    assert set(names) == set(OFFLINE_MODELS) <= set(MODELS)
    assert all(one.price == "" for one in models_for(alice)), "a demonstration costs nothing"


def test_the_provider_offers_the_price_list_the_installations_own_first(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    served_by(monkeypatch, None, chat_model="claude-opus-5-5")

    offered = models_for(alice)

    assert {one.name for one in offered} == {price.model for price in LIST_PRICES}
    assert (offered[0].name, offered[0].is_default) == ("claude-opus-5-5", True)
    assert [one.is_default for one in offered[1:]] == [False] * (len(offered) - 1)
    assert {one.name: one.price for one in offered}[HAIKU] == "$0.10 in, $0.50 out"
    assert {one.name: one.has_effort for one in offered}["claude-haiku-4-5"] is False


def test_another_server_offers_what_is_configured_and_takes_any_name(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    served_by(monkeypatch, "http://localhost:11434", chat_model="qwen3:8b")

    assert [one.name for one in models_for(alice)] == ["qwen3:8b"]
    assert [one.name for one in models_for(alice, "gpt-oss:20b")] == ["qwen3:8b", "gpt-oss:20b"]
    assert validate_model(" openai/gpt-oss:20b ") == "openai/gpt-oss:20b"
    with pytest.raises(ModelNotOfferedError, match="is not a valid model name"):
        validate_model("two words")


@pytest.mark.parametrize("address", ["https://api.anthropic.com", "https://api.anthropic.com/v1"])
def test_the_providers_own_address_is_no_other_server(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    served_by(monkeypatch, address)

    with pytest.raises(ModelNotOfferedError, match="Model “qwen3:8b” is not available"):
        validate_model("qwen3:8b")


@pytest.mark.parametrize(
    ("name", "label"),
    [
        (SONNET, "Claude Sonnet 5.5"),
        ("claude-opus-5", "Claude Opus 5"),
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"),
        ("qwen3:8b", "qwen3:8b"),
    ],
)
def test_a_models_name_is_told_as_people_say_it(name: str, label: str) -> None:
    assert label_of(name) == label


def test_the_installations_model_is_kept_as_none_so_that_it_may_change() -> None:
    assert validate_model(SONNET) == validate_model("") == ""
    assert validate_model(HAIKU) == HAIKU


# Effort ----------------------------------------------------------------------------------------------------------


def test_effort_is_kept_only_where_the_model_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    served_by(monkeypatch, None)

    assert validate_effort("high", SONNET) == "high"
    assert validate_effort("high", "claude-haiku-4-5") == ""
    with pytest.raises(ModelNotOfferedError, match="Effort “huge” is not available"):
        validate_effort("huge", SONNET)


def test_of_somebody_elses_server_it_is_asked_what_the_model_can_do(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {SONNET: Capabilities(1_000, 500, effort=False), "qwen3:8b": Capabilities(1_000, 500, effort=True)}
    monkeypatch.setattr(model_choice, "cached_capabilities", known.get)
    served_by(monkeypatch, "http://localhost:11434")

    assert [has_effort(name) for name in (SONNET, "qwen3:8b", "gpt-oss:20b")] == [False, True, False]


# Defaults --------------------------------------------------------------------------------------------------------


def test_a_new_conversation_begins_with_the_persons_own_model_and_effort(alice: User) -> None:
    alice.chat_model, alice.effort = HAIKU, "low"

    by_default = accept_message(alice, uuid4(), None, "Hello").conversation
    chosen = accept_message(
        alice, uuid4(), None, "Hello", chosen=ConversationOptions(model=SONNET, effort="")
    ).conversation

    assert (by_default.model, by_default.effort) == (HAIKU, "low")
    assert (chosen.model, chosen.effort) == ("", "")


def test_a_default_that_is_not_offered_any_more_stands_for_none(alice: User) -> None:
    alice.chat_model, alice.effort = "claude-retired-1", "high"

    assert defaults_of(alice) == ("", "")
    assert accept_message(alice, uuid4(), None, "Hello").conversation.model == ""


def test_the_prompt_is_made_for_the_model_that_was_chosen(alice: User) -> None:
    opened = accept_message(alice, uuid4(), None, "Hello", chosen=ConversationOptions(model=HAIKU, effort="low"))

    compiled = assemble_prompt(opened)

    assert compiled.request["model"] == HAIKU
    assert compiled.request["output_config"] == {"effort": "low"}
    assert compiled.inputs.model.name == HAIKU


# Choosing --------------------------------------------------------------------------------------------------------


def test_a_model_chosen_in_mid_conversation_answers_next_and_the_page_says_what_that_costs(
    her: Client, alice: User
) -> None:
    conversation = begin(alice, numbered(1))
    address = reverse("conversation_choices", args=[conversation.pk])

    page = her.post(address, {"model": HAIKU, "effort": "low"}, follow=True).content.decode()

    assert CACHE_NOTICE in page
    assert "Model changed to Claude Haiku 5.5." in page
    _, compiled = ask(Conversation.objects.get(pk=conversation.pk), "And now?")
    assert compiled.request["model"] == HAIKU


@pytest.mark.parametrize("fields", [{"model": "gpt-9"}, {"effort": "huge"}, {"role": "x"}, {"model": "x" * 81}])
def test_what_is_not_offered_changes_nothing_and_says_so(her: Client, alice: User, fields: dict[str, str]) -> None:
    conversation = Conversation.objects.create(user=alice, model=HAIKU, effort="low")
    address = reverse("conversation_choices", args=[conversation.pk])

    page = her.post(address, {"model": HAIKU, "effort": "low", **fields}, follow=True).content.decode()

    conversation.refresh_from_db()
    assert (conversation.model, conversation.effort) == (HAIKU, "low")
    assert "Nothing was changed." in page


def test_a_name_typed_by_hand_is_taken_where_the_server_is_ones_own(
    her: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    served_by(monkeypatch, "http://localhost:11434", chat_model="qwen3:8b")
    conversation = Conversation.objects.create(user=alice)
    address = reverse("conversation_choices", args=[conversation.pk])
    assert "Model name" in her.get(reverse("new")).content.decode()

    her.post(address, {"model": "other", "other_model": "gpt-oss:20b"})

    conversation.refresh_from_db()
    assert conversation.model == "gpt-oss:20b"


def test_the_new_page_stands_on_the_persons_own_model(her: Client, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(chat_model=HAIKU, effort="low")

    page = her.get(reverse("new")).content.decode()

    assert f'<option value="{HAIKU}" selected>' in page
    assert '<option value="low" selected>Low</option>' in page


# Over the socket -------------------------------------------------------------------------------------------------


def frame(**fields: Any) -> dict[str, Any]:
    return {"v": 1, "type": "send", "client_id": str(uuid4()), "conversation": None, "text": "Hello", **fields}


def test_a_frame_says_what_a_new_conversation_begins_with() -> None:
    sent = Send.model_validate(frame(role=3, project=4, model=HAIKU, effort="low", only_project=True))

    assert sent.chosen == ConversationOptions(role=3, project=4, model=HAIKU, effort="low", only_project=True)
    assert Send.model_validate(frame()).chosen == ConversationOptions()


@pytest.mark.parametrize(
    "fields", [{"role": 3}, {"project": 4}, {"model": ""}, {"effort": "low"}, {"only_project": False}]
)
def test_choices_with_a_conversation_that_has_begun_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="go with a new conversation only"):
        Send.model_validate(frame(conversation=str(uuid4()), **fields))


def test_a_frame_with_choices_is_understood() -> None:
    assert isinstance(parse(json.dumps(frame(model=HAIKU))), Send)


def test_a_model_that_is_not_there_begins_no_conversation(alice: User) -> None:
    with pytest.raises(TurnRejectedError) as refused:
        accept_message(alice, uuid4(), None, "Hello", chosen=ConversationOptions(model="gpt-9"))

    assert refused.value.code == "not_offered"
    assert not Conversation.objects.exists()
