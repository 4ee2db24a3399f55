"""Whatever arrives over the socket is a frame of the protocol, or is refused with a sentence."""

import json
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.protocol import BadFrameError, Send, client_id_of, parse

ID = "7c9e6679-7425-40de-944b-e07fc1f90ae7"


def test_a_send_frame_is_read() -> None:
    client_id = uuid4()
    frame = parse(json.dumps({"v": 1, "type": "send", "client_id": str(client_id), "conversation": None, "text": "Hi"}))
    assert frame == Send(v=1, type="send", client_id=client_id, conversation=None, text="Hi")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '"send"',
        "{}",
        '{"v": 1}',
        '{"v": 1, "type": "explode"}',
        '{"v": 2, "type": "ping"}',
        '{"type": "ping"}',
        '{"v": 1, "type": "ping", "extra": true}',
        '{"v": 1, "type": "open", "conversation": "not-a-uuid"}',
        f'{{"v": 1, "type": "retry", "client_id": "{ID}", "message": -1}}',
        f'{{"v": 1, "type": "retry", "client_id": "{ID}", "message": 9223372036854775808}}',
        "[" * 100_000,
        '{"v": ' + "1" * 5_000 + "}",
    ],
)
def test_what_is_no_frame_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(BadFrameError, match=r"\.$"):
        parse(text)


@given(
    st.text()
    | st.recursive(st.none() | st.integers() | st.text(), lambda x: st.dictionaries(st.text(), x)).map(json.dumps)
)
def test_nothing_else_than_a_refusal_comes_of_anything(text: str) -> None:
    with pytest.raises(BadFrameError):
        parse(text)
    client_id_of(text)
