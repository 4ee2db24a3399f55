"""Requests are laid out so that the provider's cache finds them again: built from rows, read by the cache's rules."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import connection
from django.db.models import F

from accounts.models import User
from budget.counting import calibration
from budget.planning.user_plan import save
from chat.models import Conversation, Role
from chat.prompt import inputs
from chat.prompt.assemble import AssembledPrompt
from chat.prompt.preflight import ToolLoop
from chat.prompt.request import HOUR_EVERY, HOUR_EVERY_WITHOUT_PAUSE, HOUR_FROM, PAUSES_AMONG
from chat.turn import AgentRun, RoundUsage, ToolUse
from memory.models import Boundary, Fact
from memory.review import decisions
from offline.protocol.cache import InputUsage, PromptCache
from offline.protocol.models import MODELS
from offline.protocol.prompt import Prompt, read_prompt
from recall.llm.client import Capabilities
from tests.chat.long_talk import answered, ask, begin, fold, numbered
from tests.running import PROJECT, clean_environment

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("offline_server")]
Request = dict[str, Any]

ABLE = Capabilities(context_window=200_000, max_output=8_000, caching=True, thinking=True, effort=True)
MAX_BREAKPOINTS = 4
WORDS = "The moon pulls the water, and the earth turns beneath the bulge. " * 8


# How a request is read -----------------------------------------------------------------------------------------------


def blocks(request: Request) -> list[tuple[str, dict[str, Any]]]:
    """All blocks in caching order, each with its location."""
    system = [("system", block) for block in request["system"]]
    said = [(message["role"], block) for message in request["messages"] for block in message["content"]]
    return [*(("tool", tool) for tool in request["tools"]), *system, *said]


def rendered(request: Request, until: int | None = None) -> str:
    """The request as JSON, without its breakpoints; `until`: up to that breakpoint, the first is 1."""
    lines, seen = [], 0
    for place, block in blocks(request):
        lines.append(json.dumps([place, {name: value for name, value in block.items() if name != "cache_control"}]))
        seen += "cache_control" in block
        if seen == until:
            break
    assert until is None or seen == until, f"it has no breakpoint {until}"
    return "\n".join(lines)


def lifetimes(request: Request) -> list[str]:
    """Lifetimes of the breakpoints, in order."""
    return [block["cache_control"]["ttl"] for _, block in blocks(request) if "cache_control" in block]


def prompt_of(request: Request) -> Prompt:
    return read_prompt(request, MODELS[request["model"]])


class Provider:
    """A cache by the provider's rules."""

    def __init__(self) -> None:
        self.now = 0.0
        self.cache = PromptCache(lambda: self.now)

    def send(self, request: Request) -> InputUsage:
        """How a request is billed."""
        booking = self.cache.look_up("k", prompt_of(request), MODELS[request["model"]].cache_minimum)
        self.cache.publish(booking)
        self.now += 30
        return booking.usage


def up_to_breakpoint(request: Request, number: int) -> int:
    """Tokens up to that breakpoint; the first is 1."""
    prompt = prompt_of(request)
    return prompt.totals[prompt.breakpoints[number - 1][0]]


def remembered(user: User, **fields: Any) -> Fact:
    """A fact that is always in the profile."""
    common = {"kind": "biography", "status": "active", "importance": 0.8, "key": "user/home"}
    return Fact.objects.create(user=user, **{**common, **fields})


def turns(conversation: Conversation, how_many: int) -> list[AssembledPrompt]:
    """The prompts of the next turns, each answered."""
    prompts = []
    for number in range(how_many):
        opened, compiled = ask(conversation, f"What about number {number}? {WORDS}")
        answered(opened, f"Answer {number}. {WORDS}")
        prompts.append(compiled)
    return prompts


# The history -----------------------------------------------------------------------------------------------------


def test_consecutive_requests_share_their_bytes_up_to_breakpoint_3(alice: User) -> None:
    remembered(alice, statement="The user lives in Porto.")
    prompts = turns(begin(alice, numbered(2)), 6)
    for earlier, later in pairwise(prompts):
        assert rendered(later.request).startswith(rendered(earlier.request, until=3) + "\n")


def test_they_share_them_behind_a_fold_too(alice: User) -> None:
    remembered(alice, statement="The user lives in Porto.")
    conversation = begin(alice, numbered(25))
    fold(conversation.pk, "length")
    prompts = turns(conversation, 3)
    assert all(compiled.inputs.history.segments for compiled in prompts)
    for earlier, later in pairwise(prompts):
        assert rendered(later.request).startswith(rendered(earlier.request, until=4) + "\n")


def test_the_cache_gives_back_all_that_was_sent_and_only_the_last_exchange_is_written(alice: User) -> None:
    remembered(alice, statement="The user lives in Porto.")
    provider = Provider()
    before = 0
    for compiled in turns(begin(alice, numbered(2)), 6):
        usage = provider.send(compiled.request)
        until_here = up_to_breakpoint(compiled.request, 3)
        assert (usage.read, usage.written) == (before, until_here - before)
        before = until_here


def test_a_fold_leaves_tools_and_system_in_the_cache(alice: User) -> None:
    provider = Provider()
    remembered(alice, statement="The user lives in Porto.")
    conversation = begin(alice, numbered(25))
    (before,) = turns(conversation, 1)
    provider.send(before.request)
    fold(conversation.pk, "length")
    (after,) = turns(conversation, 1)
    assert rendered(after.request, until=3) != rendered(before.request, until=3)
    assert provider.send(after.request).read == up_to_breakpoint(after.request, 2)


def test_a_later_fold_leaves_the_first_turns_and_earlier_summaries_in_the_cache(alice: User) -> None:
    provider = Provider()
    remembered(alice, statement="The user lives in Porto.")
    conversation = begin(alice, numbered(25))
    fold(conversation.pk, "length")
    for before in turns(conversation, 14):
        provider.send(before.request)
    fold(conversation.pk, "length")
    (after,) = turns(conversation, 1)
    assert len(after.inputs.history.segments) > len(before.inputs.history.segments) > 0
    read = provider.send(after.request).read
    assert read == up_to_breakpoint(before.request, 3) > up_to_breakpoint(before.request, 2)


def test_where_more_and_more_turns_are_left_out_the_beginning_stays_in_the_cache(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "ratios", lambda model: {})  # whatever other tests have taught it
    provider = Provider()
    remembered(alice, statement="The user lives in Porto.")
    save(alice, "small", None, None, {})
    conversation = begin(alice, [(f"What about number {n}? {WORDS}", f"Answer {n}. {WORDS}") for n in range(16)])
    left_out, reads = [], []
    for compiled in turns(conversation, 8):
        reads.append((provider.send(compiled.request).read, up_to_breakpoint(compiled.request, 3)))
        left_out.append(compiled.fitted.cut_turns)
    assert len(set(left_out)) > 2, "the note that tells of them changes"
    assert all(read >= beginning > 512 for read, beginning in reads[1:])


def test_a_summary_without_words_is_no_block(alice: User) -> None:
    conversation = begin(alice, numbered(45))
    fold(conversation.pk, "length")
    last = conversation.segments.order_by("-number")[0]
    conversation.segments.filter(pk=last.pk).update(text=" ")  # as a damaged archive may import it
    _, compiled = ask(conversation, "And now?")
    assert len(compiled.inputs.history.segments) > 1
    assert all(block["text"].strip() for place, block in blocks(compiled.request) if place == "user")
    assert len(lifetimes(compiled.request)) <= MAX_BREAKPOINTS


IN_A_FRESH_PROCESS = """
import django, json
django.setup()
from chat.prompt.assemble import assemble_prompt
from chat.models import Message
from chat.turns.intake import AcceptedTurn
from recall.db.acting import act_for
act_for({user})
question = Message.objects.get(pk={question})
answer = Message.objects.get(pk={answer})
opened = AcceptedTurn(question.conversation, question, answer, created=False, is_duplicate=False)
print(json.dumps(assemble_prompt(opened).request))
"""


@pytest.mark.django_db(transaction=True)
def test_a_fresh_process_renders_the_same_bytes_from_the_same_rows(alice: User) -> None:
    remembered(alice, statement="The user lives in Porto.")
    conversation = begin(alice, [*numbered(24), ("Wie heißt das? “Ça va” — 你好", "So: \u2028 \x7f ✓")])
    fold(conversation.pk, "length")
    opened, compiled = ask(conversation, "And now?")
    at = connection.settings_dict
    environment = clean_environment(
        DJANGO_SETTINGS_MODULE="recall.settings",
        DATABASE_URL=f"postgresql://{at['USER']}@/{at['NAME']}?host={at['HOST']}&port={at['PORT'] or 5432}",
        OFFLINE_URL=settings.PROVIDER_BASE_URL,
        SECRET_KEY="another process may even have another key",
        PYTHONHASHSEED="4",
    )
    code = IN_A_FRESH_PROCESS.format(user=alice.pk, question=opened.question.pk, answer=opened.answer.pk)
    fresh = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=90
    )
    assert fresh.returncode == 0, fresh.stderr
    again = json.loads(fresh.stdout.splitlines()[-1])
    assert rendered(again, until=4) == rendered(compiled.request, until=4)
    assert os.environ.get("PYTHONHASHSEED") != "4"


# What is the same for everyone -----------------------------------------------------------------------------------


def test_two_people_on_two_days_have_the_same_bytes_up_to_breakpoint_1(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    Boundary.objects.create(user=None, text="Be kind.")
    Boundary.objects.create(user=alice, text="No jokes about spiders.")
    remembered(alice, statement="The user lives in Porto.")
    gardener = Role.objects.create(user=alice, name="Gardener", instructions="You are a gardener.")
    hers = begin(alice, numbered(3))
    Conversation.objects.filter(pk=hers.pk).update(role=gardener, effort="low")
    bob.time_zone, bob.preferred_name = "Asia/Tokyo", ""
    bob.save()
    _, first = ask(Conversation.objects.get(pk=hers.pk), "Good morning!")
    long_after = datetime.now(UTC) + timedelta(days=400)
    monkeypatch.setattr("django.utils.timezone.now", lambda: long_after)
    _, second = ask(begin(bob), "What day is it?")
    assert rendered(first.request, until=1) == rendered(second.request, until=1)
    assert "Be kind." in rendered(first.request, until=1)
    assert up_to_breakpoint(first.request, 1) >= MODELS[first.request["model"]].cache_minimum
    provider = Provider()
    provider.send(first.request)
    assert provider.send(second.request).read == up_to_breakpoint(first.request, 1)


# What changes ----------------------------------------------------------------------------------------------------


def test_a_changed_profile_is_told_in_the_next_turn_and_the_history_stays_cached(alice: User) -> None:
    fact = remembered(alice, statement="The user lives in Porto.")
    provider = Provider()
    conversation = begin(alice, numbered(4))
    (before,) = turns(conversation, 1)
    provider.send(before.request)
    Fact.objects.filter(pk=fact.pk).update(status="superseded")
    remembered(alice, statement="The user lives in Lisbon.")

    _, after = ask(conversation, "Where do I live?")

    assert rendered(after.request).startswith(rendered(before.request, until=3) + "\n")
    assert provider.send(after.request).read == up_to_breakpoint(before.request, 3)
    told = json.loads(after.request["messages"][-1]["content"][0]["text"])["profile_update"]
    assert told == ["No longer holds: The user lives in Porto.", "New: The user lives in Lisbon."]


def test_a_rejected_fact_of_the_profile_leaves_the_next_prompt_whatever_that_costs(alice: User) -> None:
    fact = remembered(alice, statement="The user lives in Minsk.")
    provider = Provider()
    conversation = begin(alice, numbered(4))
    (before,) = turns(conversation, 1)
    provider.send(before.request)
    assert "Minsk" in json.dumps(before.request)
    decisions.reject(fact, by=alice)

    _, after = ask(conversation, "Where do I live?")

    assert "Minsk" not in json.dumps(after.request)
    assert provider.send(after.request).read == up_to_breakpoint(before.request, 1)


def test_a_fact_that_was_deleted_leaves_the_next_prompt_too(alice: User) -> None:
    fact = remembered(alice, statement="The user lives in Minsk.")
    conversation = begin(alice, numbered(4))
    turns(conversation, 1)
    fact.delete()
    _, after = ask(conversation, "Where do I live?")
    assert "Minsk" not in json.dumps(after.request)


def test_a_recalled_memory_is_gone_from_the_next_turn_once_it_is_rejected(alice: User) -> None:
    fact = remembered(alice, statement="The user's cello was made in Cremona.", kind="fact", key="", importance=0.4)
    conversation = begin(alice, numbered(4))
    opened, before = ask(conversation, "Where was my cello made?")
    assert "Cremona" in json.dumps(before.request)
    answered(opened, "In Italy.")
    decisions.reject(fact, by=alice)
    _, after = ask(conversation, "Where was my cello made?")
    assert "Cremona" not in json.dumps(after.request)


# Settings and servers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ttl", "found"), [("5m", ["5m"] * 3), ("1h", ["1h", "1h", "5m"])])
def test_the_lifetime_is_a_setting(alice: User, monkeypatch: pytest.MonkeyPatch, ttl: str, found: list[str]) -> None:
    remembered(alice, statement="The user lives in Porto.")
    monkeypatch.setattr(settings, "ENVIRONMENT", settings.ENVIRONMENT.model_copy(update={"cache_ttl": ttl}))
    _, compiled = ask(begin(alice, numbered(4)), "And now?")
    assert lifetimes(compiled.request) == found


def with_a_pause(conversation: Conversation, turn: int, minutes: float) -> Conversation:
    """The conversation, as if this much time had passed before that turn."""
    before = conversation.messages.filter(turn__lt=turn)
    before.update(created_at=F("created_at") - timedelta(minutes=minutes))
    return conversation


def test_in_every_fourth_turn_of_a_longer_talk_with_pauses_the_history_is_kept_for_an_hour(alice: User) -> None:
    remembered(alice, statement="The user lives in Porto.")
    conversation = with_a_pause(begin(alice, numbered(HOUR_FROM - 1)), HOUR_FROM - 1, 5.5)
    kept = [lifetimes(compiled.request)[-1] for compiled in turns(conversation, 10)]
    assert kept == ["5m", "1h", "5m", "5m", "5m", "1h", "5m", "5m", "5m", "5m"], "the pause is ten turns away by then"
    assert HOUR_EVERY == 4


@pytest.mark.parametrize(("minutes", "turn"), [(0, 2), (4.5, HOUR_FROM - 2), (90, 3)])
def test_while_nobody_pauses_it_is_in_every_twelfth(alice: User, minutes: float, turn: int) -> None:
    remembered(alice, statement="The user lives in Porto.")
    conversation = with_a_pause(begin(alice, numbered(PAUSES_AMONG + 5)), turn, minutes)
    kept = [lifetimes(compiled.request)[-1] for compiled in turns(conversation, 10)]
    assert kept == ["5m"] * 9 + ["1h"]
    assert 2 * HOUR_EVERY_WITHOUT_PAUSE == 24


def test_foldings_do_not_keep_the_hour_from_coming(alice: User) -> None:
    remembered(alice, statement="The user lives in Porto.")
    conversation, kept = begin(alice, numbered(13)), []
    for number in range(13, 40):
        (compiled,) = turns(conversation, 1)
        kept.append((number, lifetimes(compiled.request)[-1]))
        if number % 9 == 0:
            fold(conversation.pk, "length")
    assert [number for number, lifetime in kept if lifetime == "1h"] == [24, 36]


def test_after_half_an_hour_no_more_than_three_turns_are_written_again(alice: User) -> None:
    remembered(alice, statement="The user lives in Porto.")
    provider = Provider()
    prompts = turns(with_a_pause(begin(alice, numbered(HOUR_FROM - 1)), HOUR_FROM - 1, 10), 6)
    for compiled in prompts[:-1]:
        provider.send(compiled.request)
    provider.now += 1_800
    usage = provider.send(prompts[-1].request)
    for_an_hour = [prompt.request for prompt in prompts[:-1] if lifetimes(prompt.request)[-1] == "1h"]
    assert usage.read == up_to_breakpoint(for_an_hour[-1], 3)
    assert len(prompts) - 1 - prompts.index(next(p for p in prompts if p.request is for_an_hour[-1])) <= HOUR_EVERY


def test_a_server_without_a_cache_gets_no_breakpoints(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "get_capabilities", lambda model: replace(ABLE, caching=False))
    conversation = begin(alice, numbered(4))
    opened, compiled = ask(conversation, "And now?")
    assert "cache_control" not in json.dumps(compiled.request)
    assert all("cache_control" not in json.dumps(request) for request in tool_rounds(compiled, 2))
    monkeypatch.undo()
    answered(opened)
    _, cached = ask(conversation, "And now?")
    assert rendered(cached.request).startswith(rendered(compiled.request).rsplit("\n", 2)[0])


# Tool loops ------------------------------------------------------------------------------------------------------


def tool_rounds(compiled: AssembledPrompt, rounds: int) -> list[Request]:
    """The requests of a turn whose model calls a tool this many times."""

    async def keep(call: ToolUse) -> str:
        return "/artifacts/x"

    async def talk() -> list[Request]:
        loop, requests = ToolLoop(compiled, AgentRun(), keep), [compiled.request]
        for number in range(rounds):
            call = ToolUse(f"toolu_{number}", "search_knowledge", {"query": f"q{number}"}, WORDS)
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.input}
            total = prompt_of(requests[-1]).total
            following = await loop.next_request(requests[-1], [block], [call], RoundUsage(total, output=20))
            assert following is not None
            requests.append(following)
        return requests

    return async_to_sync(talk)()


def test_a_tool_loop_has_at_most_four_breakpoints_the_longer_lived_first(alice: User) -> None:
    remembered(alice, statement="The user lives in Porto.")
    _, compiled = ask(begin(alice, numbered(4)), "And now?")
    for request in tool_rounds(compiled, 4):
        found = lifetimes(request)
        assert len(found) <= MAX_BREAKPOINTS
        assert found == sorted(found), "1h sorts before 5m"


def test_each_round_of_a_tool_loop_reads_the_one_before(alice: User) -> None:
    remembered(alice, statement="The user lives in Porto.")
    provider = Provider()
    _, compiled = ask(begin(alice, numbered(4)), "And now?")
    before = 0
    for number, request in enumerate(tool_rounds(compiled, 4)):
        assert provider.send(request).read == before
        before = up_to_breakpoint(request, min(number + 3, MAX_BREAKPOINTS))


def test_behind_a_fold_too_and_with_no_more_breakpoints(alice: User) -> None:
    remembered(alice, statement="The user lives in Porto.")
    provider = Provider()
    conversation = begin(alice, numbered(25))
    fold(conversation.pk, "length")
    _, compiled = ask(conversation, "And now?")
    before = 0
    for request in tool_rounds(compiled, 4):
        assert len(lifetimes(request)) == MAX_BREAKPOINTS
        assert provider.send(request).read == before
        before = up_to_breakpoint(request, MAX_BREAKPOINTS)
    assert [rendered(tool_round, until=1) for tool_round in tool_rounds(compiled, 1)] == [
        rendered(compiled.request, until=1)
    ] * 2


def test_the_turn_after_a_tool_loop_reads_the_history_of_the_one_before(alice: User) -> None:
    remembered(alice, statement="The user lives in Porto.")
    provider = Provider()
    conversation = begin(alice, numbered(4))
    opened, compiled = ask(conversation, "And now?")
    for request in tool_rounds(compiled, 3):
        provider.send(request)
    answered(opened)
    _, after = ask(conversation, "And then?")
    assert provider.send(after.request).read == up_to_breakpoint(compiled.request, 3)
