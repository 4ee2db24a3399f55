"""“Answer without this memory”: it is nowhere in that prompt, and nothing else changes unless the answer is kept."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import hypothesis
import pytest
from asgiref.sync import sync_to_async
from django.conf import settings
from django.test import AsyncClient
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from accounts.models import User
from budget.models import ProfileSnapshot, Receipt
from chat.messages.history import Turn
from chat.models import Conversation, Message
from chat.prompt import ablation
from chat.prompt.ablation import RULE, exclude_memories, words_pattern
from chat.prompt.assemble import assemble_from_inputs
from chat.prompt.inputs import HistoryInputs, PromptInputs, load_prompt_inputs
from chat.prompt.replay import replay
from chat.turn import HIDDEN, NO_EXCLUSION, AcceptedTurn, Exclusion
from chat.turns import intake
from chat.turns.live import TURN_REGISTRY
from memory.index.indexer import INDEX_TASK, embed_pending
from memory.models import Chunk, Fact, LibrarianRun
from memory.retrieval.recall import MemoryItem
from recall.llm.client import close
from tests.chat.conftest import Frame, Provider, Tab, Tabs, settled

pytestmark = pytest.mark.django_db(transaction=True)

SISTER = "The user's sister Mary lives in Lisbon."
QUOTE = "my sister Mary lives in Lisbon"
HOME = "The user lives in Porto, near the river."
Queued = list[tuple[str, tuple[str | int, ...]]]


@pytest.fixture(autouse=True)
def nothing_goes_out(queued: Queued) -> Queued:
    return queued


@sync_to_async
def remembered(user: Any, message: int | None = None) -> tuple[Fact, Fact]:
    """Two facts in every prompt: one to leave out, one to stay."""
    common: dict[str, Any] = {"user": user, "importance": 0.9, "status": "active"}
    sister = Fact.objects.create(
        statement=SISTER, kind="person", key="user/sister", value="Mary", quote=QUOTE, message_id=message, **common
    )
    home = Fact.objects.create(statement=HOME, kind="place", key="user/home", value="Porto", **common)
    embed_pending()
    return sister, home


@pytest.fixture
async def web(provider: Provider) -> AsyncIterator[AsyncClient]:
    yield AsyncClient()
    await settled()
    await close()


async def signed_in(web: AsyncClient, user: Any) -> AsyncClient:
    await web.aforce_login(user, backend=settings.AUTHENTICATION_BACKENDS[0])
    return web


async def try_without(web: AsyncClient, answer: int, *refs: str, nonce: str = "") -> int:
    """Press the button; returns the id of the other answer."""
    fields = {"without": list(refs), "nonce": nonce or str(uuid4())}
    response = await web.post(f"/m/{answer}/without", fields)
    await settled()
    assert response.status_code == 302, response.content
    return int(response["Location"].split("/")[2])


def prompt(provider: Provider) -> str:
    return json.dumps(provider.requests()[-1]["body"], ensure_ascii=False)


@sync_to_async
def given_to(message: int) -> list[tuple[str, str]]:
    """The contents of an answer's prompt, by reference and label."""
    return [(item["ref"], item["label"]) for item in Receipt.objects.get(message_id=message).items if item["kept"]]


@sync_to_async
def kept(message: int) -> Message:
    found: Message = Message.objects.select_related("receipt", "conversation", "parent").get(pk=message)
    return found


# What the model is not told ----------------------------------------------------------------------------------------


async def test_the_memory_is_nowhere_in_the_prompt_and_all_else_is(
    alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient
) -> None:
    tab = await tabs.open(alice)
    told = await tab.talk(f"Good morning, {QUOTE}! How are you today?")
    question = (await kept(told["message"])).parent
    assert question is not None
    sister, _ = await remembered(alice, question.pk)
    first = await tab.talk("What do you know about my family?", told["conversation"])
    assert SISTER in prompt(provider)
    assert QUOTE in prompt(provider)
    provider.script(
        {"tools": [{"name": "search_knowledge", "input": {"query": "sister Mary Lisbon"}}]},
        {"tools": [{"name": "search_conversation", "input": {"query": "sister Mary Lisbon"}}]},
        {"text": "I know nothing of that."},
    )

    news = next(ref for ref, text in await given_to(first["message"]) if text == f"New: {SISTER}")
    await try_without(await signed_in(web, alice), first["message"], news)

    for request in provider.requests()[-3:]:
        sent = json.dumps(request["body"], ensure_ascii=False)
        assert SISTER not in sent
        assert QUOTE not in sent
        assert f'"{sister.ref}"' not in sent
        assert HOME in sent
        assert "What do you know about my family?" in sent
    assert f"Good morning, {HIDDEN}! How are you today?" in prompt(provider)


async def test_the_new_receipt_names_the_rule(alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient) -> None:
    sister, home = await remembered(alice)
    first = await (await tabs.open(alice)).talk("What do you know about my family?")

    other = await try_without(await signed_in(web, alice), first["message"], sister.ref)

    by_ref = {item["ref"]: item for item in (await kept(other)).receipt.items}
    assert (by_ref[sister.ref]["kept"], by_ref[sister.ref]["rule"]) == (False, RULE)
    assert by_ref[home.ref]["kept"]
    assert RULE == "left out at your request"


async def test_what_says_the_same_in_other_punctuation_goes_with_it(
    alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient
) -> None:
    sister, _ = await remembered(alice)
    await Fact.objects.acreate(
        user=alice, statement="As is known, THE USER’S SISTER — Mary — lives in Lisbon", kind="person",
        key="mary/home", importance=0.8, status="active",
    )  # fmt: skip
    first = await (await tabs.open(alice)).talk("What do you know about my family?")
    assert "THE USER’S SISTER" in prompt(provider)

    other = await try_without(await signed_in(web, alice), first["message"], sister.ref)

    assert "THE USER’S SISTER" not in prompt(provider)
    struck = [item for item in (await kept(other)).receipt.items if item["rule"] == RULE]
    assert len(struck) == 2


async def test_its_prompt_can_be_built_again(alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient) -> None:
    tab = await tabs.open(alice)
    told = await tab.talk(f"Good morning, {QUOTE}!")
    sister, _ = await remembered(alice)
    first = await tab.talk("What do you know about my sister Mary in Lisbon?", told["conversation"])
    refs = [ref for ref, text in await given_to(first["message"]) if text.removeprefix("New: ") == sister.statement]
    other = await try_without(await signed_in(web, alice), first["message"], *refs)

    again = await sync_to_async(lambda: replay(Receipt.objects.get(message_id=other)))()
    assert again.identical, again.changes


WORDS = st.sampled_from(["Mary", "Lisbon", "cello", "harbour", "paints", "boats", "Straße", "naïve", "東京", "2026"])
SENTENCES = st.lists(WORDS, min_size=ablation.MIN_WORDS, max_size=6)
BETWEEN = st.sampled_from([" ", ", ", " — ", "\n", "… "])


def _said(words: Sequence[str], between: str, shout: bool) -> str:
    text = f"Well: {between.join(words)}. Indeed."
    return text.upper() if shout else text


@given(SENTENCES, BETWEEN, st.booleans())
def test_its_words_are_found_whatever_stands_between_them(words: list[str], between: str, shout: bool) -> None:
    left = Exclusion(words=words_pattern([" ".join(words)]))
    text = _said(words, between, shout and "Straße" not in words)  # ß has no capital: STRASSE is another word
    assert left.occurs_in(text)
    assert not left.occurs_in(left.hide_in(text))
    assert left.hide_in({"deep": [text, 3]}) == {"deep": [left.hide_in(text), 3]}


def test_a_title_before_a_name_ends_no_sentence() -> None:
    text = "I see a therapist, Dr. Okafor, for panic attacks. I play the trombone."
    pattern = words_pattern(["I see a therapist, Dr. Okafor, for panic attacks."])
    assert pattern is not None
    assert pattern.sub("", text) == ". I play the trombone."


def test_a_few_words_by_themselves_hide_nothing() -> None:
    assert words_pattern(["In Lisbon.", ""]) is None
    assert Exclusion().hide_in("In Lisbon.") == "In Lisbon."


@hypothesis.settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # it only reads the inputs
@given(
    place=st.sampled_from(["profile", "update", "memory", "question", "answer", "tool line", "task"]), between=BETWEEN
)
def test_wherever_it_stood_it_is_struck(known: PromptInputs, place: str, between: str) -> None:
    secret = f"my{between}sister Mary{between}lives in Lisbon"
    left = Exclusion(words=words_pattern([QUOTE]))
    full = _with_secret(known, place, f"Well, {secret}, and so on.")
    assert _flat("lives in Lisbon") in _flat(json.dumps(assemble_from_inputs(full, 0.0).request, ensure_ascii=False)), (
        place
    )

    request = json.dumps(assemble_from_inputs(exclude_memories(full, left), 0.0).request, ensure_ascii=False)

    assert _flat(secret) not in _flat(request)


@pytest.mark.parametrize(("asked", "is_kept"), [("What do I do for work?", True), ("Where does Mary live?", False)])
def test_what_is_left_of_a_memory_answers_or_is_left_out_too(known: PromptInputs, asked: str, is_kept: bool) -> None:
    known.question.message.text = asked
    full = _with_secret(known, "memory", "My sister Mary lives in Lisbon. I work as a roofer.")
    (item,) = full.recalled.kept
    full = replace(full, recalled=replace(full.recalled, kept=(item._replace(said_by="user"),)))

    kept = exclude_memories(full, Exclusion(words=words_pattern([QUOTE]))).recalled.kept

    assert [item.text for item in kept] == [f"I work as a roofer. {HIDDEN}"] * is_kept


def _flat(text: str) -> str:
    return "".join(one for one in text.replace("\\n", " ") if one.isalnum())


@pytest.fixture
def known(alice: Any) -> PromptInputs:
    """The inputs of an empty conversation's first prompt."""
    opened = intake.accept_message(alice, uuid4(), None, "What do you know about my family?")
    return load_prompt_inputs(opened)


def _with_secret(known: PromptInputs, place: str, text: str) -> PromptInputs:
    from budget.receipts.profile_snapshots import Line

    question = Message(pk=1, turn=1, role="user", text=text if place == "question" else "Hello", tokens=9)
    lines = {"tool_lines": [text]} if place == "tool line" else {}
    answer = Message(
        pk=2, turn=1, role="assistant", text=text if place == "answer" else "Hi", tokens=9, event_data=lines
    )
    item = MemoryItem("message:7", "message", text, known.clock.now, None, {}, 0.9, tokens=9)
    return replace(
        known,
        profile=replace(
            known.profile,
            lines=[Line("document:/profile/identity:1", text, 9)] if place == "profile" else [],
            update=[f"New: {text}"] if place == "update" else [],
        ),
        recalled=replace(known.recalled, kept=(item,) if place == "memory" else (), cut=()),
        history=HistoryInputs((Turn(1, question, answer),)),
        task=f"Goal: {text}" if place == "task" else "",
    )


# What does not change ----------------------------------------------------------------------------------------------


async def test_the_conversation_goes_on_from_the_first_answer(
    alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient
) -> None:
    sister, _ = await remembered(alice)
    tab = await tabs.open(alice)
    first = await tab.talk("What do you know about my family?")
    tab.seen.clear()

    other = await try_without(await signed_in(web, alice), first["message"], sister.ref)

    answer = await kept(other)
    assert answer.conversation.active_leaf_id == first["message"]
    assert answer.parent_id == (await kept(first["message"])).parent_id
    assert answer.event_data["without"] == [sister.ref]
    assert answer.event_data["beside"] == first["message"]
    assert not [frame for frame in tab.seen if frame["type"] == "accepted"], "a page shows one branch"
    provider.script({"text": "Yes, go on."})
    after = await tab.talk("And what else?", first["conversation"])
    assert (await kept(after["message"])).status == "complete"


async def test_it_is_no_use_of_any_memory_and_nothing_is_learned_from_it(
    alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient, queued: Queued
) -> None:
    sister, _ = await remembered(alice)
    first = await (await tabs.open(alice)).talk("What do you know about my family?")
    await signed_in(web, alice)
    before = await _standing(alice)
    queued.clear()
    provider.script(
        {"tools": [{"name": "remember", "input": {"statement": "The user likes boats."}}]},
        {"tools": [{"name": "update_task", "input": {"goal": "Boats", "steps": [], "done": False}}]},
        {"text": "It is noted."},
    )

    await try_without(web, first["message"], sister.ref)

    assert await _standing(alice) == before
    assert queued == []


@sync_to_async
def _standing(user: User) -> Any:
    """What an answer in the conversation would change."""
    facts = list(Fact.objects.filter(user=user).order_by("pk").values("pk", "status", "times_used", "last_used_at"))
    chunks = list(Chunk.objects.filter(user=user).order_by("pk").values("pk", "text", "times_used"))
    columns = ("active_leaf", "task", "cut_from", "last_activity_at", "librarian_watermark")
    conversations = list(Conversation.objects.filter(user=user).values(*columns))
    return facts, chunks, conversations, LibrarianRun.objects.count(), ProfileSnapshot.objects.count()


async def test_the_button_pressed_twice_asks_once(alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient) -> None:
    sister, _ = await remembered(alice)
    provider.script({"text": "You have a sister."}, {"text": "I do not know."})
    first = await (await tabs.open(alice)).talk("What do you know about my family?")
    await signed_in(web, alice)
    before = await Message.objects.acount()
    twice = [await try_without(web, first["message"], sister.ref, nonce="one") for _ in range(2)]
    assert twice[0] == twice[1]
    assert await Message.objects.acount() == before + 1


# The page ----------------------------------------------------------------------------------------------------------


async def test_both_answers_stand_side_by_side_with_what_they_took(
    alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient
) -> None:
    sister, _ = await remembered(alice)
    provider.script({"text": "You have a sister."}, {"text": "I do not know."})
    first = await (await tabs.open(alice)).talk("What do you know about my family?")
    await signed_in(web, alice)
    panel = (await web.get(f"/receipts/{first['message']}")).content.decode()
    assert f'value="{sister.ref}"' in panel

    other = await try_without(web, first["message"], sister.ref)

    page = (await web.get(f"/m/{other}/compare")).content.decode()
    for text in (
        "You have a sister.",
        "I do not know.",
        "Your sister Mary lives in Lisbon",
        "Difference",
        "Keep this answer",
    ):
        assert text in page
    assert "Model requests" not in page
    fewer = (await kept(other)).receipt.total_input - (await kept(first["message"])).receipt.total_input
    assert fewer < 0
    assert f"−{-fewer:,}" in page
    panel = (await web.get(f"/receipts/{first['message']}")).content.decode()
    assert f'/m/{other}/compare">Your sister Mary lives in Lisbon.</a>' in panel
    assert "excluded at your request" in (await web.get(f"/receipts/{other}")).content.decode()


async def test_while_it_is_written_the_page_shows_what_there_is(
    alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient
) -> None:
    sister, _ = await remembered(alice)
    first = await (await tabs.open(alice)).talk("What do you know about my family?")
    await signed_in(web, alice)
    provider.script({"text": "one two three four five six"})
    provider.fail("slow:0.1")
    response = await web.post(f"/m/{first['message']}/without", {"without": sister.ref, "nonce": "n"})
    address = response["Location"]
    page = (await web.get(address)).content.decode()
    assert 'hx-trigger="every 1s"' in page
    assert '<noscript><p><a href="">Reload for the rest' in page
    await settled()
    part = (await web.get(address, headers={"HX-Request": "true"})).content.decode()
    assert "one two three four five six" in part
    assert "every 1s" not in part
    assert "<html" not in part


async def test_keep_this_one_goes_on_from_it_and_back_again(
    alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient, queued: Queued
) -> None:
    sister, _ = await remembered(alice)
    first = await (await tabs.open(alice)).talk("What do you know about my family?")
    other = await try_without(await signed_in(web, alice), first["message"], sister.ref)
    queued.clear()

    assert (await web.post(f"/m/{other}/keep")).status_code == 302
    assert (await kept(other)).conversation.active_leaf_id == other
    assert (INDEX_TASK, (str(first["conversation"]),)) in queued
    await web.post(f"/m/{first['message']}/keep")
    assert (await kept(other)).conversation.active_leaf_id == first["message"]


async def test_it_cannot_be_kept_once_the_conversation_has_gone_on(
    alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient
) -> None:
    sister, _ = await remembered(alice)
    tab = await tabs.open(alice)
    first = await tab.talk("What do you know about my family?")
    later = await tab.talk("Thank you, and what of boats?", first["conversation"])
    other = await try_without(await signed_in(web, alice), first["message"], sister.ref)
    assert "Thank you, and what of boats?" not in prompt(provider), "it is asked as it was asked then"

    await web.post(f"/m/{other}/keep")

    assert (await kept(other)).conversation.active_leaf_id == later["message"]
    page = (await web.get(f"/m/{other}/compare")).content.decode()
    assert "Keep this answer" not in page
    assert "The conversation has continued" in page


# What is refused ---------------------------------------------------------------------------------------------------


async def test_only_what_it_was_given_can_be_left_out(
    alice: Any, bob: Any, tabs: Tabs, provider: Provider, web: AsyncClient
) -> None:
    sister, _ = await remembered(alice)
    first = await (await tabs.open(alice)).talk("What do you know about my family?")
    count = await Message.objects.acount()
    await signed_in(web, alice)
    response = await web.post(f"/m/{first['message']}/without", {"without": "fact:999999"}, follow=True)
    assert "use this memory, so there is nothing to leave out" in response.content.decode()
    assert (await web.post(f"/m/{first['message']}/without", {})).status_code == 404
    await signed_in(web, bob)
    assert (await web.post(f"/m/{first['message']}/without", {"without": sister.ref})).status_code == 404
    assert (await web.post(f"/m/{first['message']}/keep")).status_code == 404
    assert await Message.objects.acount() == count


async def test_it_waits_for_the_answer_that_is_being_written(
    alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient
) -> None:
    sister, _ = await remembered(alice)
    tab: Tab = await tabs.open(alice)
    first = await tab.talk("What do you know about my family?")
    await signed_in(web, alice)
    provider.script({"text": "one two three four"}, {"text": "five"})
    provider.fail("slow:0.2")
    await web.post(f"/m/{first['message']}/without", {"without": sister.ref})
    await tab.tell("send", client_id=str(uuid4()), conversation=first["conversation"], text="And now?")
    assert (await tab.hear("error"))["code"] == "busy"
    assert TURN_REGISTRY.by_conversation
    await settled()
    assert (await tab.talk("And now?", first["conversation"]))["outcome"] == "complete"


async def test_the_api_does_the_same(alice: Any, tabs: Tabs, provider: Provider, web: AsyncClient) -> None:
    sister, _ = await remembered(alice)
    first = await (await tabs.open(alice)).talk("What do you know about my family?")
    await signed_in(web, alice)
    provider.script({"text": "I do not know."})
    address = f"/api/v1/turns/{first['message']}"
    response: Any = await web.post(f"{address}/without", {"refs": [sister.ref]}, content_type="application/json")
    events = "".join([part.decode() async for part in response])
    done: Frame = json.loads(events.split("event: done\ndata: ")[1].split("\n")[0])
    assert done["text"] == "I do not know."
    kept_now = await web.post(f"/api/v1/turns/{done['message']}/keep")
    assert kept_now.json() == {"conversation": first["conversation"], "message": done["message"]}
    wrong = await web.post(f"{address}/without", {"refs": ["fact:1000000"]}, content_type="application/json")
    assert wrong.status_code == 409


def test_an_ordinary_answer_does_without_nothing(alice: Any) -> None:
    opened: AcceptedTurn = intake.accept_message(alice, uuid4(), None, "Good morning")
    assert not opened.is_trial
    assert opened.exclusion == NO_EXCLUSION
    assert ablation.load_exclusion(opened.answer) == NO_EXCLUSION
