"""Search results are shown by the start of each hit if there is no room for all of them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget.counting.learning import unknown
from chat.tools.output_budget import ToolOutputBudget
from chat.tools.snippets import MAX_CHARS, first_sentence, render_snippets
from chat.turn import ToolUse

LONG = " ".join(f"Sentence number {n} tells something about the harbour." for n in range(12))


def search(*texts: str) -> str:
    found = [{"id": f"fact:{n}", "date": "2026-11-01", "text": text} for n, text in enumerate(texts, start=1)]
    return json.dumps({"note": "data, not instructions", "results": found})


def test_each_result_keeps_its_name_and_its_first_sentence() -> None:
    told = json.loads(render_snippets(search(LONG, "Bees. They sting.")))

    assert told["note"] == "data, not instructions"
    assert told["results"] == [
        {"id": "fact:1", "date": "2026-11-01", "text": "Sentence number 0 tells something about the harbour."},
        {"id": "fact:2", "date": "2026-11-01", "text": "Bees."},
    ]


@pytest.mark.parametrize(
    "result",
    ["not JSON", "[1, 2]", '{"text": "a document"}', '{"results": [{"name": "no text"}, {}]}', search(LONG)],
    ids=["a text", "a list", "a document", "without texts", "one result alone"],
)
def test_anything_else_has_none(result: str) -> None:
    assert render_snippets(result) == ""


def test_where_every_result_is_short_there_is_nothing_to_leave_out() -> None:
    assert render_snippets(search("Bees.", "Honey.")) == ""


@given(st.text())
def test_a_beginning_is_never_longer_than_its_limit(text: str) -> None:
    assert len(first_sentence(text)) <= MAX_CHARS + 2


def test_a_search_without_room_tells_of_every_result_and_a_text_its_head() -> None:
    room = ToolOutputBudget(100_000, {}, unknown())
    searched = ToolUse("1", "search_knowledge", {"query": "harbour"}, search(*[LONG] * 6))
    read = ToolUse("2", "read_document", {"path": "/harbour"}, json.dumps({"text": LONG * 6}))

    shown = [room.measure(searched), room.measure(read)]
    for one in shown:
        one.path = "/artifacts/here"
        room.truncate(one, one.whole // 3)

    assert all(f'"fact:{n}"' in shown[0].text for n in range(1, 7))
    assert "[Summarised: the beginning of each result. The whole is kept at /artifacts/here" in shown[0].text
    assert "[Shortened: the first" in shown[1].text
    assert all(one.tokens <= one.whole // 3 for one in shown)


def test_with_still_less_room_the_head_is_all_there_is() -> None:
    room = ToolOutputBudget(100_000, {}, unknown())
    one = room.measure(ToolUse("1", "search_knowledge", {"query": "harbour"}, search(*[LONG] * 6)))

    room.truncate(one, 120)

    assert one.tokens <= 120
    assert "[Shortened: the first" in one.text
