"""What was read from a text is remembered without the text."""

import tracemalloc

from memory.secrets.secrets_filter import sensitive
from memory.speech_acts.network import read_act
from memory.text.remembered import remembered


def test_a_text_is_read_once() -> None:
    read: list[str] = []

    @remembered(2)
    def length(text: str) -> int:
        read.append(text)
        return len(text)

    assert [length(text) for text in ("one", "three", "one", "\ud800", "one")] == [3, 5, 3, 1, 3]
    assert read == ["one", "three", "\ud800"]


def test_secrets_and_speech_acts_of_long_messages_are_remembered_without_the_messages() -> None:
    def read(beginning: str) -> None:
        message = f"{beginning} {'It rained. ' * 5_000}"
        read_act(message)
        sensitive(message, is_own=True)
        sensitive(message)

    read("Chapter z.")  # loads what is loaded on first use
    tracemalloc.start()
    try:
        for number in range(20):
            read(f"Chapter {chr(ord('a') + number)}.")
        assert tracemalloc.get_traced_memory()[0] < 500_000  # half of what the messages take
    finally:
        tracemalloc.stop()
