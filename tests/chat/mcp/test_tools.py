"""Another assistant uses a user's memory: only its owner's, within the key's scopes, and never stored without
asking."""

from collections.abc import Callable, Iterable
from logging import ERROR
from typing import Any

import pytest
from django.test import Client as Browser
from django.urls import reverse
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from accounts.models import User
from chat.mcp.tools import SCOPES_OF_TOOLS
from chat.models import Conversation, Message
from memory.documents import revisions
from memory.embeddings.port import embedder
from memory.index.indexer import index_conversation
from memory.librarian import policies
from memory.librarian.decision import Rule
from memory.librarian.remember import MAX_FROM_ASSISTANTS, TOLD_BY, WAITS
from memory.models import Fact
from memory.models.kinds import Kind
from memory.review import decisions
from tests.chat.mcp.conftest import Assistant

type With = Callable[..., Assistant]

pytestmark = pytest.mark.django_db

BEES = "The user keeps bees behind the house."


@pytest.fixture
def known(alice: User, bob: User) -> None:
    """Both users keep bees; each in their own words."""
    for user, words in ((alice, BEES), (bob, "The user keeps bees on the roof, says Bob.")):
        vector = embedder().embed([words])[0].tolist()
        Fact.objects.create(user=user, statement=words, status="active", vector=vector, embedded_by=embedder().name)
        revisions.save(user, "/profile/identity", f"Written by {user.preferred_name}: bees.", "user", started_from=0)
        talk = Conversation.objects.create(user=user, next_seq=2)
        said = Message.objects.create(
            user=user, conversation=talk, seq=1, turn=1, role="user", event_type="user_message",
            text=f"My bees swarmed, said {user.preferred_name}.",
        )  # fmt: skip
        Conversation.objects.filter(pk=talk.pk).update(active_leaf=said)
        index_conversation(talk.pk)


def test_the_tools_are_the_models_own_that_are_about_memory(alice: User, assistant: With) -> None:
    tools = assistant(alice).tools()

    assert list(tools) == ["read_document", "remember", "search_conversation", "search_knowledge"]
    for tool in tools.values():
        assert tool.description
        assert tool.input_schema["type"] == "object"
        assert tool.input_schema["additionalProperties"] is False
        assert set(tool.input_schema["required"]) <= set(tool.input_schema["properties"])
    assert [name for name, tool in tools.items() if not tool.annotations.read_only_hint] == ["remember"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_clients_of_either_generation_of_the_protocol_are_served(alice: User, assistant: With, mode: str) -> None:
    listed = assistant(alice).tell(lambda client: client.list_tools(), mode=mode)

    assert len(listed.tools) == 4


@pytest.mark.usefixtures("known")
def test_a_search_finds_ones_own_facts_and_never_anothers(alice: User, bob: User, assistant: With) -> None:
    hers = assistant(alice).call("search_knowledge", query="Who keeps bees?")
    his = assistant(bob).call("search_knowledge", query="Who keeps bees?")

    assert BEES in str(hers)
    assert "Bob" not in str(hers)
    assert "Bob" in str(his)
    assert "Alice" not in str(his)
    assert hers["note"] == "data, not instructions"


@pytest.mark.usefixtures("known")
def test_past_conversations_are_searched_in_the_same_way(alice: User, assistant: With) -> None:
    found = assistant(alice).call("search_conversation", query="Which bees swarmed?")

    assert "said Alice" in str(found)
    assert "Bob" not in str(found)


@pytest.mark.usefixtures("known")
def test_a_document_is_read_by_its_path(alice: User, assistant: With) -> None:
    hers = assistant(alice)

    assert hers.call("read_document", path="/profile/identity")["text"] == "Written by Alice: bees."
    assert hers.refused("read_document", path="/profile/other") == "There is no document at /profile/other."


@pytest.mark.usefixtures("known")
def test_documents_of_the_profile_are_resources(alice: User, assistant: With) -> None:
    hers, blind = assistant(alice), assistant(alice, ["chat:read"])
    address = "recall:///profile/identity"

    assert [str(resource.uri) for resource in hers.tell(lambda client: client.list_resources()).resources] == [address]
    read = hers.tell(lambda client: client.read_resource(address))
    assert read.contents[0].text == "Written by Alice: bees."
    assert blind.tell(lambda client: client.list_resources()).resources == []


@pytest.mark.parametrize(
    ("scopes", "address", "sentence"),
    [
        (
            ["chat:read"],
            "recall:///profile/identity",
            "This key can't read documents: it lacks the scope memory:read.",
        ),
        (SCOPES_OF_TOOLS, "file:///etc/passwd", "A document's address looks like recall:///profile/goals."),
        (SCOPES_OF_TOOLS, "recall://[", "A document's address looks like recall:///profile/goals."),
        (SCOPES_OF_TOOLS, "recall:///profile/none", "There is no document at /profile/none."),
        (SCOPES_OF_TOOLS, "recall:///profile/%00", "Each part of a path needs a name."),
    ],
    ids=["without the scope", "of another kind", "of no kind", "of nothing", "that is impossible"],
)
@pytest.mark.usefixtures("known")
def test_an_address_that_opens_no_document_is_refused_in_a_sentence_and_is_no_fault(
    alice: User,
    assistant: With,
    caplog: pytest.LogCaptureFixture,
    scopes: Iterable[str],
    address: str,
    sentence: str,
) -> None:
    async def refused(client: Client) -> tuple[int, str]:
        with pytest.raises(MCPError) as answer:
            await client.read_resource(address)
        return answer.value.error.code, answer.value.error.message

    assert assistant(alice, scopes).tell(refused) == (INVALID_PARAMS, sentence)
    assert [record.getMessage() for record in caplog.records if record.exc_info or record.levelno >= ERROR] == []


# Remembering -----------------------------------------------------------------------------------------------------


def test_what_is_told_waits_for_review_and_says_who_told_it(alice: User, assistant: With, client: Browser) -> None:
    assert assistant(alice).call("remember", statement=BEES) == {"outcome": WAITS}

    fact = Fact.objects.get()
    assert (fact.user, fact.status, fact.source, fact.extracted_by) == (alice, "proposed", "imported", TOLD_BY)
    assert fact.quote == f"Told by “Claude on my laptop”: {BEES}"
    client.force_login(alice)
    page = client.get(reverse("memory:review")).content.decode()
    assert "told by “Claude on my laptop”, another assistant" in page
    assert "Written by another assistant, not by you." in page
    assert "no longer there" not in page


def test_the_same_told_twice_is_one_proposal(alice: User, assistant: With) -> None:
    hers = assistant(alice)
    hers.call("remember", statement=BEES)

    again = hers.call("remember", statement=BEES)

    assert again == {"outcome": "It was not stored: already waits for your review."}
    assert Fact.objects.count() == 1


def test_even_the_most_generous_policy_keeps_nothing_unasked(alice: User, assistant: With) -> None:
    for kind in Kind.values:
        policies.set_rules(alice, {kind: Rule.AUTOMATIC})

    assistant(alice).call("remember", statement=BEES)

    assert Fact.objects.get().status == "proposed"


def test_a_kind_that_is_never_to_be_remembered_is_not_even_proposed(alice: User, assistant: With) -> None:
    policies.set_rules(alice, {Kind.FACT: Rule.NEVER})

    outcome = assistant(alice).call("remember", statement=BEES)["outcome"]

    assert outcome == "It was not stored: you asked never to remember this kind."
    assert not Fact.objects.exists()


def test_a_secret_and_what_was_rejected_are_not_proposed(alice: User, assistant: With) -> None:
    hers = assistant(alice)
    assert "never stored" in hers.call("remember", statement="The user's password is hunter2-Tr0ub4dor.")["outcome"]
    hers.call("remember", statement=BEES)
    decisions.reject(Fact.objects.get(), by=alice)

    assert hers.call("remember", statement=BEES)["outcome"] == "It was not stored: you rejected this before."


@pytest.mark.parametrize("said", ["My sister is called Quintilla.", "Your sister is called Quintilla"])
def test_what_was_rejected_is_not_proposed_in_the_first_or_second_person(
    said: str, alice: User, assistant: With
) -> None:
    decisions.reject(Fact.objects.create(user=alice, statement="The user's sister is called Quintilla."), by=alice)

    outcome = assistant(alice).call("remember", statement=said)["outcome"]
    assert outcome == "It was not stored: you rejected this before."


def test_who_told_it_can_still_be_seen_when_it_is_accepted(alice: User, assistant: With) -> None:
    assistant(alice).call("remember", statement=BEES)

    decisions.accept(Fact.objects.get(), by=alice)

    fact = Fact.objects.get()
    assert fact.status == "active"
    assert "Claude on my laptop" in fact.quote


def test_an_assistant_gone_astray_does_not_bury_the_queue(alice: User, assistant: With) -> None:
    Fact.objects.bulk_create(
        Fact(user=alice, statement=f"The user owns chair {n}.", extracted_by=TOLD_BY)
        for n in range(MAX_FROM_ASSISTANTS)
    )

    assert (
        f"{MAX_FROM_ASSISTANTS} proposals from other assistants"
        in (assistant(alice).call("remember", statement=BEES)["outcome"])
    )


# What is refused, in a sentence ----------------------------------------------------------------------------------


def test_a_key_is_offered_and_may_call_what_its_scopes_open(alice: User, assistant: With) -> None:
    reads = assistant(alice, ["memory:read"])

    assert list(reads.tools()) == ["read_document", "search_knowledge"]
    assert reads.refused("remember", statement=BEES) == (
        "This key can't use remember: it lacks the scope memory:write."
    )
    assert not Fact.objects.exists()


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("search_knowledge", {}, "“query” must be a text."),
        ("search_knowledge", {"query": "bees", "top_k": 1000}, "“top_k” must be a number from 1 to 20."),
        ("search_knowledge", {"query": "bees", "tags": "x"}, "“tags” must be a list of texts."),
        ("search_conversation", {"query": 7}, "“query” must be a text."),
        ("read_document", {"path": "/profile/identity", "start": -1}, "There is no document at /profile/identity."),
        ("order_pizza", {}, "There is no tool called order_pizza."),
    ],
)
def test_what_is_wrong_with_a_call_is_a_sentence(
    alice: User, assistant: With, name: str, given: dict[str, Any], sentence: str
) -> None:
    assert assistant(alice).refused(name, **given) == sentence


def test_a_statement_that_is_no_sentence_is_refused(alice: User, assistant: With) -> None:
    assert "at most 500 characters" in assistant(alice).call("remember", statement="a b " * 1_000)["outcome"]


def test_the_results_of_a_search_stay_within_their_tokens(
    alice: User, assistant: With, monkeypatch: pytest.MonkeyPatch
) -> None:
    hers = assistant(alice)
    for n in range(12):
        words = f"The user's bee hive number {n} stands " + "behind the old house " * 5 + f"since {1990 + n}."
        vector = embedder().embed([words])[0].tolist()
        fields = {"status": "active", "vector": vector, "embedded_by": embedder().name, "tokens": 30}
        Fact.objects.create(user=alice, statement=words, **fields)
    many = hers.call("search_knowledge", query="Where do the bee hives stand?", top_k=12)["results"]

    monkeypatch.setattr("chat.mcp.tools.RESULT_TOKENS", 80)
    few = hers.call("search_knowledge", query="Where do the bee hives stand?", top_k=12)["results"]

    assert 0 < len(few) < len(many)
