"""What a turn is told of what was said before, and what its tools find."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from asgiref.sync import async_to_sync, sync_to_async

from accounts.models import User
from budget.models import Receipt
from budget.planning.plan import STANDARD, Section, resolve
from chat.compaction.segments import store_long_results
from chat.ingest.source import ChatSource
from chat.models import Conversation, Message
from chat.prompt import inputs
from chat.prompt.assemble import assemble_from_inputs
from chat.prompt.measure import measure_pieces
from chat.tools.memory_search import refs_in_result
from chat.tools.registry import run_tool
from chat.turn import AcceptedTurn, AgentRun, ToolUse
from chat.turns import intake
from chat.turns.finish import _memories_in
from memory.documents import revisions
from memory.index.indexer import embed_pending, index_document
from memory.models import Chunk, Document, Episode, Fact
from memory.text.message_kinds import repeats_memories
from tests.chat.conftest import Frame, Provider, Tabs
from tests.memory.index.test_indexer import said

pytestmark = pytest.mark.django_db(transaction=True)

CELLO = "I bought a cello in Cremona from a man called Bertolotti."


def recalled(provider: Provider) -> list[Frame]:
    """The memories of the latest request."""
    content = provider.requests()[-1]["body"]["messages"][-1]["content"]
    blocks = [block["text"] for block in content if block["text"].startswith("{")]
    memories: list[Frame] = json.loads(blocks[0])["recalled_memories"] if blocks else []
    return memories


@sync_to_async
def earlier(user: User, *lines: tuple[Any, str]) -> list[int]:
    messages = ChatSource().import_conversation(user, "Instruments", said(*lines))
    embed_pending()
    return messages


async def test_what_was_said_in_another_conversation_is_recalled_with_who_said_it(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    question, answer = await earlier(alice, ("user", CELLO), ("assistant", "Bertolotti of Cremona built fine cellos."))
    tab = await tabs.open(alice)

    await tab.talk("Who sold me the cello from Cremona?")

    by_id = {memory["id"]: memory for memory in recalled(provider)}
    assert by_id[f"message:{question}"]["said_by"] == "user"
    assert by_id[f"message:{question}"]["text"] == CELLO
    assert by_id.get(f"message:{answer}", {"said_by": "assistant"})["said_by"] == "assistant"


def prompt_with(**contents: Any) -> Any:
    """A prompt of these contents, and nothing else."""
    return SimpleNamespace(
        contents=SimpleNamespace(**{"turns": [], "recalled": [], "profile": [], "profile_update": []} | contents)
    )


def test_an_answer_that_only_repeats_what_was_said_before_it_is_no_memory() -> None:
    before = SimpleNamespace(question=SimpleNamespace(text="My flight to Rome is on 4 March"))
    memories = list(_memories_in(prompt_with(turns=[before]), AgentRun()))

    assert repeats_memories("Your flight to Rome is on 4 March.", "When do I leave?", memories)
    assert not repeats_memories("Check in online, and take the early train to the airport.", "Any advice?", memories)


def test_what_is_new_in_the_profile_is_among_the_memories_that_an_answer_may_repeat() -> None:
    new = ["New: The user lives in Porto.", "New: The user works as a nurse."]
    prompt = prompt_with(profile_update=new)
    said = "Here's what I know about you:\n\n- You live in Porto.\n- You work as a nurse."

    assert repeats_memories(said, "What do you know about me?", _memories_in(prompt, AgentRun()))


@pytest.mark.parametrize(
    ("answer", "omit"),
    [
        ("You told me that you bought it in Cremona, from Bertolotti.", "answered from memories"),
        ("I don't know where you bought it.", "did not know"),
        ("Tune the strings in fifths, loosen the bow after playing, and keep the wood away from radiators.", ""),
    ],
)
async def test_an_answer_from_memories_is_no_memory_and_one_with_something_of_its_own_is(
    alice: Any, tabs: Tabs, provider: Provider, answer: str, omit: str
) -> None:
    await earlier(alice, ("user", CELLO))
    provider.script({"text": answer})
    tab = await tabs.open(alice)

    done = await tab.talk("Tell me where I bought the cello from Cremona, and what it needs to keep well and long.")

    chunk = await Chunk.objects.aget(message=done["message"])
    assert chunk.omit == omit


async def test_each_recalled_memory_has_its_qualifier_in_the_prompt_and_in_the_receipt(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    (bought,) = await earlier(alice, ("user", CELLO))
    new = await Fact.objects.acreate(user=alice, statement="The user owns a viola.", status="active")
    old = await Fact.objects.acreate(
        user=alice, statement="The user owned a cello from Cremona.", status="superseded", superseded_by=new
    )
    tab = await tabs.open(alice)

    done = await tab.talk("Which cello from Cremona did I own before?")

    superseded = f"superseded by {new.ref} (The user owns a viola.)"
    qualifiers = {memory["id"]: memory["qualifier"] for memory in recalled(provider)}
    assert qualifiers[old.ref] == superseded
    assert qualifiers[f"message:{bought}"] == "current"
    receipt = await Receipt.objects.aget(message=done["message"])
    kept = {item["ref"]: item["qualifier"] for item in receipt.items if item["section"] == "memories" and item["kept"]}
    assert kept[old.ref] == superseded


async def test_what_answers_the_question_says_so_in_the_prompt(alice: Any, tabs: Tabs, provider: Provider) -> None:
    home = await Fact.objects.acreate(
        user=alice, statement="The user lives in Ghent.", status="active", key="user/home", value="Ghent"
    )
    tab = await tabs.open(alice)

    await tab.talk("Which town do I live in these days?")

    assert {memory["id"]: memory["answers"] for memory in recalled(provider)} == {home.ref: "home"}


async def test_the_receipt_names_the_rule_of_what_is_not_true(alice: Any, tabs: Tabs, provider: Provider) -> None:
    (bought,) = await earlier(alice, ("user", CELLO))
    await Fact.objects.acreate(
        user=alice, statement="The user bought a cello.", status="rejected", message_id=bought, quote=CELLO
    )
    tab = await tabs.open(alice)

    done = await tab.talk("Who sold me the cello from Cremona?")

    assert CELLO not in json.dumps(provider.requests()[-1]["body"])
    receipt = await Receipt.objects.aget(message=done["message"])
    assert {item["ref"]: item["rule"] for item in receipt.items}[f"message:{bought}"] == "rejected"


async def test_what_stands_in_the_window_is_not_recalled_again(alice: Any, tabs: Tabs, provider: Provider) -> None:
    tab = await tabs.open(alice)
    done = await tab.talk(CELLO)

    await tab.talk("Who sold me the cello from Cremona?", done["conversation"])

    assert recalled(provider) == []


@sync_to_async
def told_in_a_line(user: User) -> Fact:
    """A fact that the librarian put into the profile, found by its words and its meaning as well."""
    fact: Fact = Fact.objects.create(user=user, statement="The user plays the cello on Mondays.", status="active")
    text = f"- Plays the cello on Mondays. ^fact-{fact.pk}"
    document = Document.objects.create(user=user, path="/profile/preferences", title="What you like", text=text)
    index_document(document)
    embed_pending()
    return fact


async def items_of(message_id: int, fact: Fact) -> list[Frame]:
    receipt = await Receipt.objects.aget(message=message_id)
    return [item for item in receipt.items if item["ref"] == fact.ref]


async def test_what_the_profile_says_is_told_once_and_named_as_called_for(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    fact = await told_in_a_line(alice)
    tab = await tabs.open(alice)

    done = await tab.talk("When do I play the cello?")

    assert recalled(provider) == []
    assert json.dumps(provider.requests()[-1]["body"]).count("lays the cello on Mondays") == 1
    (item,) = await items_of(done["message"], fact)
    assert (item["section"], item["kept"]) == ("profile", True)
    assert item["fits"] > 0.3
    assert item["parts"]["keyword"] > 0


async def test_what_is_new_in_the_profile_since_it_was_pinned_is_not_told_as_cut(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    tab = await tabs.open(alice)
    done = await tab.talk("Good morning")
    fact = await told_in_a_line(alice)

    again = await tab.talk("When do I play the cello?", done["conversation"])

    assert "plays the cello on Mondays" in json.dumps(provider.requests()[-1]["body"]["messages"][-1])
    assert await items_of(again["message"], fact) == []


@pytest.mark.parametrize(("missing", "where"), [(0, "profile"), (1, "memories")], ids=["finds one", "finds none"])
def test_a_line_that_is_not_sure_of_its_place_is_told_once_whether_it_finds_one_or_not(
    alice: User, monkeypatch: pytest.MonkeyPatch, missing: int, where: str
) -> None:
    """`missing`: tokens that the prompt has too few for both, the line and the same fact recalled."""
    plan = resolve(STANDARD, 1_000_000)
    borrowing = replace(plan, ceilings={**plan.ceilings, Section.PROFILE: 1})
    monkeypatch.setattr(inputs, "plan_for", lambda user, window: borrowing)
    fact = async_to_sync(told_in_a_line)(alice)
    known = inputs.load_prompt_inputs(intake.accept_message(alice, uuid4(), None, "When do I play the cello?"))
    wanted = sum(measured.piece.tokens for measured in measure_pieces(known))

    compiled = assemble_from_inputs(known, 0.0, replace(borrowing, total=wanted + plan.output_reserve - missing))

    assert [piece.section for piece in compiled.fitted.kept if piece.ref == fact.ref] == [where]
    assert json.dumps(compiled.request).count("lays the cello on Mondays") == 1


async def test_another_try_does_not_recall_the_answer_it_replaces(alice: Any, tabs: Tabs, provider: Provider) -> None:
    provider.script({"text": "Bertolotti sold the cello of Cremona."}, {"text": "It was Bertolotti."})
    tab = await tabs.open(alice)
    done = await tab.talk("Who sold me the cello from Cremona?")

    await tab.tell("retry", client_id=str(done["client_id"])[:-4] + "0000", message=done["message"])
    await tab.hear("done")

    assert recalled(provider) == []


async def test_a_follow_up_finds_whom_the_turn_before_named(alice: Any, tabs: Tabs, provider: Provider) -> None:
    (wanted,) = await earlier(alice, ("user", "Bertolotti works in a workshop behind the cathedral."))
    await earlier(alice, ("user", "My sister works for the post office."), ("assistant", "Noted."))
    await earlier(alice, ("user", "Our plumber works on Sundays only."), ("assistant", "Good to know."))
    provider.script({"text": "He is known for his cellos."}, {"text": "Behind the cathedral."})
    tab = await tabs.open(alice)
    done = await tab.talk("Do you remember Bertolotti?")

    await tab.talk("And where does he work?", done["conversation"])

    assert recalled(provider)[0]["id"] == f"message:{wanted}"


async def test_a_first_turn_is_told_what_was_going_on(alice: Any, tabs: Tabs, provider: Provider) -> None:
    episode = await Episode.objects.acreate(
        user=alice, title="A cello", summary="The user looks for a bow.", significance=0.9
    )
    tab = await tabs.open(alice)

    done = await tab.talk("Please check my English in this sentence.")
    first = recalled(provider)
    await tab.talk("And in this one, too.", done["conversation"])

    assert [(memory["id"], memory["title"]) for memory in first] == [(f"episode:{episode.pk}", "A cello")]
    assert recalled(provider) == []


# Tools -----------------------------------------------------------------------------------------------------------


def use(user: User, name: str, **given: Any) -> ToolUse:
    """A tool's answer in a new conversation."""
    conversation = Conversation.objects.create(user=user)
    common: dict[str, Any] = {"user": user, "conversation": conversation, "turn": 1}
    question = Message.objects.create(seq=1, role="user", event_type="user_message", text="Hm?", **common)
    answer = Message.objects.create(seq=2, role="assistant", event_type="assistant_response", **common)
    call = ToolUse("toolu_1", name, given)
    run_tool(AcceptedTurn(conversation, question, answer, created=True, is_duplicate=False), call)
    return call


def results(call: ToolUse) -> list[Frame]:
    found: list[Frame] = json.loads(call.result)["results"]
    return found


async def test_what_a_tool_returned_can_be_opened_in_a_later_turn_by_the_line_that_stands_for_it(
    alice: Any, bob: Any, tabs: Tabs, provider: Provider
) -> None:
    await earlier(alice, ("user", CELLO))
    searching = {"tools": [{"name": "search_conversation", "input": {"query": "cello"}}]}
    provider.script(searching, {"text": "From Cremona."})
    tab = await tabs.open(alice)
    done = await tab.talk("Where does my cello come from?")
    line = (await Message.objects.aget(pk=done["message"])).event_data["tool_lines"][0]
    kept_at = f"result:{done['message']}.1"
    opening_it = {"tools": [{"name": "read_document", "input": {"path": kept_at}}]}
    provider.script(opening_it, {"text": "Bertolotti."})

    again = await tab.talk("And who sold it?", done["conversation"])

    assert line.endswith(f", kept at {kept_at}]")
    results = Message.objects.filter(event_type=Message.Event.TOOL_RESULT).order_by("seq")
    first, second = [result.text async for result in results]
    assert json.loads(second)["text"] == first
    assert CELLO in first
    assert refs_in_result(second) == refs_in_result(first) != set()
    elsewhere = await sync_to_async(use)(alice, "read_document", path=kept_at)
    strangers = await sync_to_async(use)(bob, "read_document", path=kept_at)
    assert elsewhere.is_error, "a result belongs to its conversation"
    assert strangers.is_error
    reading = (await Message.objects.aget(pk=again["message"])).event_data["tool_lines"][0]
    assert reading.endswith("characters of results]"), "what it read is named already"


@pytest.mark.parametrize("number", [0, 2, 9999])
def test_a_result_that_never_was_is_refused_with_a_sentence(alice: User, number: int) -> None:
    call = use(alice, "read_document", path=f"result:1.{number}")

    assert call.is_error
    assert call.result == "There is no such result in this conversation."


async def test_a_long_result_that_was_moved_into_a_document_is_opened_there(
    alice: Any, tabs: Tabs, provider: Provider
) -> None:
    provider.script({"tools": [{"name": "search_knowledge", "input": {"query": "cello"}}]}, {"text": "Nothing."})
    tab = await tabs.open(alice)
    done = await tab.talk("What is known of cellos?")
    result = await Message.objects.aget(event_type=Message.Event.TOOL_RESULT)
    await Message.objects.filter(pk=result.pk).aupdate(text="cello " * 2_000)
    conversation = await Conversation.objects.select_related("user").aget(pk=done["conversation"])
    assert await sync_to_async(store_long_results)(conversation) == 1

    opened = AcceptedTurn(conversation, result, result, created=True, is_duplicate=False)
    call = ToolUse("toolu_1", "read_document", {"path": f"result:{done['message']}.1"})
    await sync_to_async(run_tool)(opened, call)

    answer = json.loads(call.result)
    assert answer["path"].startswith("/artifacts/")
    assert answer["text"].startswith("cello cello")


@pytest.fixture
def library(alice: User) -> None:
    for path, text in (
        ("/projects/garden/plan", "# Beds\n\nThe garlic goes into the bed by the wall."),
        ("/reference/kitchen", "# Sauces\n\nGarlic burns easily, so add it late to the pan."),
    ):
        index_document(revisions.save(alice, path, text, started_from=0))
    embed_pending()


def test_search_conversation_finds_passages_and_says_who_said_them(alice: User) -> None:
    ChatSource().import_conversation(alice, "Instruments", said(("user", CELLO), ("assistant", "What a find.")))

    found = results(use(alice, "search_conversation", query="cello from Cremona"))

    assert (found[0]["text"], found[0]["said_by"]) == (CELLO, "user")


def test_search_conversation_finds_no_documents(alice: User, library: None) -> None:
    assert results(use(alice, "search_conversation", query="garlic")) == []


def test_search_knowledge_finds_documents_by_path(alice: User, library: None) -> None:
    everywhere = results(use(alice, "search_knowledge", query="where does the garlic go?"))
    in_the_garden = results(use(alice, "search_knowledge", query="where does the garlic go?", path="/projects"))

    assert {item["title"].split(" ")[0] for item in everywhere} == {"/projects/garden/plan", "/reference/kitchen"}
    assert [item["title"].split(" ")[0] for item in in_the_garden] == ["/projects/garden/plan"]


def test_search_knowledge_returns_no_more_than_asked_for(alice: User, library: None) -> None:
    assert len(results(use(alice, "search_knowledge", query="garlic", top_k=1))) == 1


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"top_k": 0}, "“top_k” must be a number from 1 to 20."),
        ({"top_k": True}, "“top_k” must be a number from 1 to 20."),
        ({"top_k": "many"}, "“top_k” must be a number from 1 to 20."),
        ({"path": "garden"}, "A path starts with “/”, as in /projects/garden."),
        ({"tags": "herbs"}, "“tags” must be a list of texts."),
        ({"query": " "}, "“query” must be a text."),
    ],
)
def test_a_wrong_search_is_answered_with_a_sentence(alice: User, given: Frame, sentence: str) -> None:
    call = use(alice, "search_knowledge", **{"query": "garlic", **given})

    assert (call.is_error, call.result) == (True, sentence)


def test_bobs_tools_find_nothing_that_alice_said_or_wrote(alice: User, bob: User, library: None) -> None:
    ChatSource().import_conversation(alice, "Instruments", said(("user", CELLO)))

    assert results(use(bob, "search_conversation", query="cello from Cremona")) == []
    assert results(use(bob, "search_knowledge", query="garlic")) == []
