"""The provider's caching rules one by one, on the pure class with the test's own clock."""

from typing import Any

import pytest

from offline.protocol.cache import LOOK_BACK, SWEEP_EVERY, InputUsage, PromptCache
from offline.protocol.models import MODELS
from offline.protocol.prompt import read_prompt
from tests.offline.requests import REMEMBER, SEARCH, assistant, call, mark, request, result, text, user

Json = dict[str, Any]

LONG = "word " * 600  # about 600 tokens: over the minimum of 512
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
NOTES = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}


class Provider:
    """A cache and its clock; `send` is one whole request: looked up, started, billed."""

    def __init__(self) -> None:
        self.now = 0.0
        self.cache = PromptCache(lambda: self.now)

    def send(self, body: Json, *, key: str = "alice", begins: bool = True) -> InputUsage:
        model = MODELS[body["model"]]
        booking = self.cache.look_up(key, read_prompt(body, model), model.cache_minimum)
        if begins:
            self.cache.publish(booking)
        return booking.usage


@pytest.fixture
def provider() -> Provider:
    return Provider()


def tokens(body: Json) -> int:
    return read_prompt(body, MODELS[body["model"]]).total


def layered(question: str = "q", **changes: Any) -> Json:
    """Tools, system and history, each with its own breakpoint, then a question."""
    body = request(
        user("a"),
        assistant(text(LONG, **mark())),
        user(question),
        tools=[SEARCH, REMEMBER | {"description": LONG, **mark()}],
        system=[text(LONG, **mark())],
    )
    return {**body, **changes}


def chain(length: int, *marked: int) -> Json:
    """One message of `length` long text blocks, with breakpoints at the given numbers (from 1)."""
    blocks = [text(f"{number} {LONG}", **(mark() if number in marked else {})) for number in range(1, length + 1)]
    return request({"role": "user", "content": blocks})


def read_levels(provider: Provider, changed: Json) -> int:
    """How many of the three breakpoints of `layered()` a changed request still reads: tools, system, messages."""
    provider.send(layered())
    prompt = read_prompt(changed, MODELS[changed["model"]])
    ends = [0, *(prompt.totals[at] for at, _ in prompt.breakpoints)]
    return ends.index(provider.send(changed).read)


# Writing and reading -----------------------------------------------------------------------------------------------


def test_without_a_breakpoint_all_is_plain_input(provider: Provider) -> None:
    body = request(user(LONG))
    assert provider.send(body) == provider.send(body) == InputUsage(tokens(body), 0, 0, 0)


def test_a_prefix_is_written_once_and_then_read(provider: Provider) -> None:
    first = provider.send(layered())
    second = provider.send(layered())
    assert first.read == 0
    assert first.written > 1_800
    assert second.read == first.written
    assert second.written == 0


def test_plain_input_is_what_follows_the_last_breakpoint(provider: Provider) -> None:
    short = provider.send(layered("q"))
    long = provider.send(layered(LONG))
    assert long.read == short.written
    assert long.plain - short.plain == tokens(layered(LONG)) - tokens(layered("q"))


def test_the_parts_sum_up_to_the_whole_prompt(provider: Provider) -> None:
    for question in ("a", "b", LONG):
        assert provider.send(layered(question)).total == tokens(layered(question))


def test_nothing_is_written_before_a_breakpoint(provider: Provider) -> None:
    provider.send(chain(6, 6))
    changed = chain(6, 5)  # blocks 1 to 5 are the same, but no entry ends at any of them
    assert provider.send(changed).read == 0


def test_a_varying_end_under_the_breakpoint_is_written_each_time_and_never_read(provider: Provider) -> None:
    for clock in ("10:00", "10:01", "10:02"):
        usage = provider.send(request(user(LONG, text(clock, **mark()))))
        assert usage.read == 0
        assert usage.written > 600


def test_a_growing_conversation_writes_only_what_is_new(provider: Provider) -> None:
    history = [user("one"), assistant(LONG)]
    provider.send(request(*history[:-1], assistant(text(LONG, **mark())), user("two")))
    grown = [*history, user("two"), assistant(text("answer", **mark())), user("three")]
    usage = provider.send(request(*grown))
    assert usage.read > 600
    assert usage.written == tokens(request(*grown[:4])) - usage.read < 20


def test_a_breakpoint_may_move_without_losing_anything(provider: Provider) -> None:
    provider.send(chain(3, 2))
    assert provider.send(chain(3, 3)).read == tokens(chain(2))


# Look-back ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("length", "found"), [(LOOK_BACK, True), (LOOK_BACK + 1, False)])
def test_a_read_looks_back_over_twenty_positions_the_breakpoint_being_the_first(
    provider: Provider, length: int, found: bool
) -> None:
    provider.send(chain(1, 1))
    assert bool(provider.send(chain(length, length)).read) == found


def test_the_example_of_the_documentation_holds(provider: Provider) -> None:
    provider.send(chain(10, 10))
    assert provider.send(chain(15, 15)).read == tokens(chain(10))
    assert provider.send(chain(35, 35)).read == 0
    other = Provider()
    other.send(chain(15, 15))
    assert other.send(chain(35, 15, 35)).read == tokens(chain(15))


def test_each_breakpoint_has_a_look_back_of_its_own(provider: Provider) -> None:
    provider.send(chain(5, 5))
    assert provider.send(chain(40, 20, 40)).read == tokens(chain(5))


def test_a_run_of_calls_or_results_is_one_position(provider: Provider) -> None:
    def loop(ttl_at_end: bool) -> Json:
        calls = [call("search_knowledge", {"query": str(n)}, f"toolu_{n}") for n in range(30)]
        results = [result(str(n), f"toolu_{n}") for n in range(30)]
        if ttl_at_end:
            results[-1] = result("29", "toolu_29", **mark())
        first = text(LONG, **({} if ttl_at_end else mark()))
        return request(user(first), assistant(*calls), user(*results), tools=[SEARCH])

    provider.send(loop(ttl_at_end=False))
    assert provider.send(loop(ttl_at_end=True)).read > 600


# Length ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "words", "cached"),
    [
        ("claude-sonnet-5-5", 400, False),
        ("claude-sonnet-5-5", 600, True),
        ("claude-sonnet-5", 600, False),
        ("claude-sonnet-5", 1_100, True),
    ],
)
def test_a_short_prefix_is_silently_not_cached(provider: Provider, model: str, words: int, cached: bool) -> None:
    body = request(user(text("word " * words, **mark()), "q"), model=model)
    first, second = provider.send(body), provider.send(body)
    assert bool(first.written) == bool(second.read) == cached
    if not cached:
        assert first.plain == tokens(body)


def test_what_lies_before_counts_towards_the_length(provider: Provider) -> None:
    body = request(user("q"), system=[text(LONG), text("short", **mark())])
    assert provider.send(body).written > 600


# Lifetime ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ttl", "lives"), [(None, 300), ("5m", 300), ("1h", 3_600)])
def test_an_entry_lives_five_minutes_or_an_hour(provider: Provider, ttl: str | None, lives: int) -> None:
    body = request(user(text(LONG, **mark(ttl)), "q"))
    provider.send(body)
    provider.now = lives - 1
    assert provider.send(body, begins=False).read
    late = Provider()
    late.send(body)
    late.now = lives
    assert late.send(body).read == 0


def test_each_read_gives_the_lifetime_anew(provider: Provider) -> None:
    body = request(user(text(LONG, **mark()), "q"))
    provider.send(body)
    for provider.now in (200, 400, 600, 800):
        assert provider.send(body).read


def test_a_read_keeps_the_shared_prefix_alive_too(provider: Provider) -> None:
    shared = [text(LONG, **mark())]
    provider.send(request(user(text("a", **mark()), "q"), system=shared))
    provider.now = 250
    provider.send(request(user(text("a", **mark()), "q"), system=shared))
    provider.now = 500
    assert provider.send(request(user(text("b", **mark()), "q"), system=shared)).read > 600


def test_the_lifetime_counts_from_the_start_of_the_request(provider: Provider) -> None:
    body = request(user(text(LONG, **mark()), "q"))
    model = MODELS[body["model"]]
    booking = provider.cache.look_up("alice", read_prompt(body, model), model.cache_minimum)
    provider.now = 100  # a long time thinking
    provider.cache.publish(booking)
    provider.now = 301
    assert provider.send(body).read == 0


def test_expired_entries_are_removed(provider: Provider) -> None:
    provider.send(chain(1, 1))
    provider.now = 1_000
    for number in range(SWEEP_EVERY):
        provider.send(request(user(str(number))))
    assert not provider.cache.entries


# Billing -----------------------------------------------------------------------------------------------------------


def mixed(question: str, middle: str = "m") -> Json:
    """An hour for the system, an hour for the first turn, five minutes for the second."""
    return request(
        user("a"),
        assistant(text(f"{middle} {LONG}", **mark("1h"))),
        user("b"),
        assistant(text(LONG, **mark())),
        user(question),
        system=[text(LONG, **mark("1h"))],
    )


def test_hours_and_minutes_are_billed_apart(provider: Provider) -> None:
    body = mixed("q")
    prompt = read_prompt(body, MODELS[body["model"]])
    system, first, second = (prompt.totals[at] for at, _ in prompt.breakpoints)
    assert provider.send(body) == InputUsage(prompt.total - second, 0, second - first, first)
    provider.now = 1_000  # the five minutes are over
    assert provider.send(body) == InputUsage(prompt.total - second, first, second - first, 0)
    changed = mixed("q", middle="n")
    assert provider.send(changed) == InputUsage(prompt.total - second, system, second - first, first - system)


# What can be marked ------------------------------------------------------------------------------------------------


def test_automatic_caching_moves_on_by_itself(provider: Provider) -> None:
    first = request(user(LONG), **mark())
    assert provider.send(first).plain == 0
    second = request(user(LONG), assistant("b"), user("c"), **mark())
    assert provider.send(second).read == tokens(first)


def test_automatic_caching_passes_over_thinking(provider: Provider) -> None:
    thinking = {"type": "thinking", "thinking": "x", "signature": "y"}
    body = request(user(LONG), assistant("b", thinking), **mark())
    marked = read_prompt(body, MODELS[body["model"]])
    assert [at for at, _ in marked.breakpoints] == [1]


def test_thinking_is_cached_as_part_of_the_prefix(provider: Provider) -> None:
    thinking = {"type": "thinking", "thinking": LONG, "signature": "y"}
    turn = [user("a"), assistant(thinking, CALL), user(result("x", **mark()))]
    assert provider.send(request(*turn, tools=[SEARCH])).written > 600
    assert provider.send(request(*turn, tools=[SEARCH])).read > 600


CALL = call("search_knowledge", {"query": "a"})


def test_a_mark_inside_a_result_counts_as_the_results_own(provider: Provider) -> None:
    turn = [user(LONG), assistant(CALL), user(result([text("x", **mark())]), "y")]
    assert provider.send(request(*turn)).written > 600


# Visibility and separation -----------------------------------------------------------------------------------------


def test_parallel_first_requests_all_miss(provider: Provider) -> None:
    first = provider.send(chain(2, 1), begins=False)
    second = provider.send(chain(2, 1), begins=False)
    assert first == second
    assert first.read == 0


def test_an_entry_can_be_read_once_the_response_begins(provider: Provider) -> None:
    provider.send(chain(2, 1), begins=False)
    assert provider.send(chain(2, 1)).read == 0
    assert provider.send(chain(2, 1)).read > 0


def test_each_key_has_a_cache_of_its_own(provider: Provider) -> None:
    provider.send(chain(2, 1), key="alice")
    assert provider.send(chain(2, 1), key="bob").read == 0
    assert provider.send(chain(2, 1), key="alice").read > 0


# What invalidates --------------------------------------------------------------------------------------------------

NOTHING, TOOLS, SYSTEM, ALL = range(4)
WEB = {"type": "web_search_20260318", "name": "web_search"}
FORMAT = {"type": "json_schema", "schema": {"type": "object", "properties": {}, "additionalProperties": False}}


def with_system(words: str) -> Json:
    return layered(system=[text(words, **mark())])


def with_history(words: str) -> Json:
    return layered() | {"messages": [user("a"), assistant(text(words, **mark())), user("q")]}


def with_first(*content: Json | str) -> Json:
    return layered() | {"messages": [user(*content), assistant(text(LONG, **mark())), user("q")]}


@pytest.mark.parametrize(
    ("changed", "kept"),
    [
        (layered(), ALL),
        (layered("another question"), ALL),
        (layered(max_tokens=5), ALL),
        (layered(metadata={"user_id": "x"}), ALL),
        (layered(output_config={"effort": "high"}), ALL),  # the default, made explicit
        (layered(thinking={"type": "adaptive"}), ALL),
        (layered(tools=[REMEMBER | {"description": LONG, **mark()}, SEARCH]), NOTHING),
        (layered(tools=[SEARCH | {"description": "x"}, REMEMBER | {"description": LONG, **mark()}]), NOTHING),
        (layered(model="claude-haiku-5-5"), NOTHING),
        (with_system(f"{LONG} and more"), TOOLS),
        (layered(speed="fast"), TOOLS),
        (layered(output_config={"format": FORMAT}), TOOLS),
        (layered(tools=[*layered()["tools"], WEB]), TOOLS),
        (with_first("a", NOTES | {"citations": {"enabled": True}}), TOOLS),
        (with_history(f"{LONG} and more"), SYSTEM),
        (with_first("another"), SYSTEM),
        (with_first("a", NOTES), SYSTEM),
        (layered(tool_choice={"type": "none"}), SYSTEM),
        (layered(output_config={"effort": "low"}), SYSTEM),
        (layered(thinking={"type": "between_tools"}), SYSTEM),
        (layered() | {"messages": [*layered()["messages"][:2], user(IMAGE, "q")]}, SYSTEM),
    ],
)
def test_a_change_loses_what_follows_it_and_nothing_before(provider: Provider, changed: Json, kept: int) -> None:
    assert read_levels(provider, changed) == kept


def test_the_order_of_keys_matters_as_it_does_to_the_provider(provider: Provider) -> None:
    turned = dict(reversed((REMEMBER | {"description": LONG, **mark()}).items()))
    assert read_levels(provider, layered(tools=[SEARCH, turned])) == NOTHING


def test_a_string_is_the_same_as_one_text_block(provider: Provider) -> None:
    provider.send(request(user(LONG), assistant(text("b", **mark())), user("c")))
    plain: Json = {"role": "user", "content": LONG}
    assert provider.send(request(plain, assistant(text("b", **mark())), user("c"))).read > 600
