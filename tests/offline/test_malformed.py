"""Whatever is sent, the response is the provider's: accepted or refused, never a crash."""

import copy
import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from offline.errors import ApiError
from offline.messages import admit
from offline.protocol.cache import PromptCache
from offline.protocol.reply import compose
from offline.responder.request_facts import question_of, read
from offline.responder.respond import respond
from tests.offline.requests import CLOCK, MARY, SEARCH, assistant, call, current, mark, request, result, text, user

Json = dict[str, Any]

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "array", "items": {"type": "string"}}},
    "required": ["a"],
    "additionalProperties": False,
}
FULL: Json = request(
    current("Where does my sister live?", MARY, update=["The user moved."]),
    assistant(call("search_knowledge", {"query": "a"})),
    user(result([text("found", **mark())]), text("and?", **mark())),
    system=[text("blueprint"), text("# Profile\n- The user likes tea.", **mark("1h"))],
    tools=[SEARCH],
    tool_choice={"type": "auto"},
    thinking={"type": "adaptive", "display": "omitted"},
    output_config={"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
    metadata={"user_id": "x"},
    diagnostics={"previous_message_id": None},
    stop_sequences=["END"],
    stream=True,
)
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 5),
    st.sampled_from(["", " ", "x", "\x00", "\ud800", "tool_use", "thinking", "image", CLOCK]),
    st.sampled_from([[], [[]], ["x"], [None], {}, {"type": "text"}, {"type": ["text"]}, {"type": "tool_result"}]),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything inside a JSON value."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        found += places(child, (*path, key))
    return found


PLACES = places(FULL)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(PLACES), JUNK), min_size=1, max_size=3))
def test_a_request_with_junk_in_it_is_answered_or_refused(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    body = copy.deepcopy(FULL)
    for path, junk in changes:
        put(body, path, junk)
    body = json.loads(json.dumps(body))
    try:
        model, prompt = admit(body)
    except ApiError:
        return
    cache = PromptCache()
    booking = cache.look_up("key", prompt, model.cache_minimum)
    assert booking.usage.total == prompt.total
    assert question_of(body) == read(body).question
    assert compose(respond(read(body)), body, model, prompt).stop_reason


def put(body: Any, path: tuple[Any, ...], junk: Any) -> None:
    """Put junk in a place, if the place still exists."""
    for key in path[:-1]:
        try:
            body = body[key]
        except (KeyError, IndexError, TypeError):
            return
    if isinstance(body, dict) or (isinstance(body, list) and isinstance(path[-1], int) and path[-1] < len(body)):
        body[path[-1]] = copy.deepcopy(junk)
