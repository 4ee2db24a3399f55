"""The look-ahead optimizer of `bench/cost/optimum.py`: nothing is cheaper, and it pays what the cache bills."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.cost.optimum import NONE, Choice, Rules, Step, cheapest, dollars, pay
from budget.spending.prices import LIST_PRICES
from offline.protocol.cache import PromptCache
from offline.protocol.models import MODELS
from offline.protocol.prompt import read_prompt

PRICES = {one.model: one for one in LIST_PRICES if one.from_input_tokens == 0}
SONNET = PRICES["claude-sonnet-5-5"]
FIRST, LAST = 2, 3

pauses = st.sampled_from([60.0, 200.0, 900.0, 3_000.0, 50_000.0])
steps = st.lists(
    st.builds(
        Step,
        pause=pauses,
        static=st.just(3_000),
        tail=st.integers(50, 2_000),
        turn=st.integers(20, 3_000),
        rounds=st.integers(0, 2),
    ),
    min_size=1,
    max_size=14,
)
rates = st.sampled_from([PRICES[name] for name in ("claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-5-5")])


def rules_for(turns: int, ceiling: int = 10_000) -> Rules:
    return Rules(ceiling, FIRST, LAST, [0] * (FIRST + 1) + [90 + 7 * n for n in range(turns)])


def most_folded(turns: int) -> int:
    """How far history may be compacted at most."""
    return max(FIRST, turns - LAST)


@st.composite
def schedules(draw: Any) -> tuple[list[Step], Rules, list[Choice]]:
    """A conversation, and some valid schedule for it."""
    talk = draw(steps)
    rules = rules_for(len(talk), ceiling=1_000_000)
    folded, choices = FIRST, []
    static = draw(st.sampled_from(["5m", "1h"]))
    history = draw(st.sampled_from(["5m", static]))
    for n in range(len(talk)):
        folds = draw(st.booleans())
        folded = draw(st.integers(folded, max(folded, most_folded(n)))) if folds else folded
        marked = n > 0 and draw(st.integers(0, 4)) > 0
        choices.append(Choice(folded, static, history if marked else NONE, n if marked else 0))
    return talk, rules, choices


@settings(max_examples=300)
@given(schedules(), rates)
def test_no_schedule_is_cheaper(schedule: tuple[list[Step], Rules, list[Choice]], price: Any) -> None:
    talk, rules, choices = schedule
    best = cheapest(talk, rules, price)
    assert dollars(pay(talk, best, rules), price) <= dollars(pay(talk, choices, rules), price) + 1e-12


@settings(max_examples=100)
@given(steps, rates, st.integers(1_000, 20_000))
def test_it_keeps_the_first_and_the_last_turns_and_the_ceiling(talk: list[Step], price: Any, ceiling: int) -> None:
    rules = rules_for(len(talk), ceiling)
    sizes = [step.turn for step in talk]
    for n, choice in enumerate(cheapest(talk, rules, price)):
        assert FIRST <= choice.folded <= most_folded(n)
        stands = (
            sum(sizes[: min(n, FIRST)])
            + sum(sizes[choice.folded : n])
            + (rules.summary[choice.folded] if n > FIRST else 0)
        )
        assert stands <= ceiling or choice.folded == most_folded(n)


@settings(max_examples=60)
@given(steps, rates)
def test_it_never_unfolds(talk: list[Step], price: Any) -> None:
    folded = [choice.folded for choice in cheapest(talk, rules_for(len(talk)), price)]
    assert folded == sorted(folded)


# What the cache itself bills -------------------------------------------------------------------------------------


def words(tokens: int, name: str) -> dict[str, Any]:
    """A block of exactly this many tokens by the offline count."""
    return {"type": "text", "text": name[:1] + " a" * (tokens - 1)}


def marked(block: dict[str, Any], ttl: str) -> dict[str, Any]:
    return {**block, "cache_control": {"type": "ephemeral", "ttl": ttl}}


def request(talk: list[Step], n: int, choice: Choice, rules: Rules) -> dict[str, Any]:
    """The request of the turn with `n` turns before it: a turn's blocks have its tokens, and no message frames."""
    blocks = []
    is_folded = n > FIRST and choice.folded > FIRST
    standing = [*range(FIRST), *range(choice.folded, n)] if is_folded else list(range(n))
    for number in standing:
        if number == choice.folded and choice.folded > FIRST:
            blocks.append(words(rules.summary[choice.folded], f"s{choice.folded}"))
        block = words(talk[number].turn, "abcdefghijklmnopq"[number])
        blocks.append(marked(block, choice.history) if choice.history and number == choice.covered - 1 else block)
    blocks.append({"type": "text", "text": "?" + " b" * (talk[n].tail - 1)})
    return {
        "model": "claude-sonnet-5-5",
        "system": [marked(words(talk[n].static, "S"), choice.static)],
        "messages": [{"role": "user", "content": blocks}],
    }


FRAMES = 3 + 4  # of the request, before the system block, and of the one message, before the history


@settings(max_examples=80)
@given(
    st.lists(
        st.builds(Step, pause=pauses, static=st.just(3_000), tail=st.integers(2, 900), turn=st.integers(20, 900)),
        min_size=1,
        max_size=12,
    ),
    rates,
)
def test_what_it_pays_is_what_the_cache_bills(talk: list[Step], price: Any) -> None:
    rules = rules_for(len(talk), ceiling=4_000)
    choices = cheapest(talk, rules, price)
    now, before = 0.0, FIRST
    cache = PromptCache(lambda: now)
    for n, (step, choice, paid) in enumerate(zip(talk, choices, pay(talk, choices, rules), strict=True)):
        now += step.pause
        prompt = read_prompt(request(talk, n, choice, rules), MODELS["claude-sonnet-5-5"])
        booking = cache.look_up("k", prompt, 512)
        cache.publish(booking)
        billed = booking.usage
        assert billed.total == paid.total + FRAMES
        # If more is compacted than before, an entry after the first turns may still be read: it isn't counted.
        spared = sum(step.turn for step in talk[:FIRST]) if choice.folded != before else 0
        assert -FRAMES <= billed.read - paid.read <= FRAMES + spared
        assert -FRAMES - spared <= billed.written_1h - paid.write_1h <= FRAMES
        assert -FRAMES - spared <= billed.written_5m - paid.write_5m <= FRAMES
        before = choice.folded


def test_before_a_long_pause_nothing_is_written_for_an_hour() -> None:
    talk = [Step(60.0, 3_000, 500, 500), Step(60.0, 3_000, 500, 500), Step(60.0, 3_000, 500, 500)]
    choices = cheapest(talk, rules_for(3), SONNET)
    assert {choice.static for choice in choices} == {"5m"}
    assert choices[-1].history != "1h"


@pytest.mark.parametrize("pause", [900.0, 3_000.0])
def test_where_pauses_are_longer_than_five_minutes_entries_live_an_hour(pause: float) -> None:
    talk = [Step(pause, 3_000, 500, 500)] * 10
    assert {choice.static for choice in cheapest(talk, rules_for(10), SONNET)} == {"1h"}
