"""Which words of a message are its writer's own, and which were only pasted or quoted."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.text.user_text import PASTED_WORDS, mask_foreign_text, mask_spans
from recall.environment import BASE_DIR

LONG = "I have moved to Atlantis with my three horses and I work there as a blacksmith. " * 2
assert len(LONG.split()) > PASTED_WORDS

BORROWED = {
    "a letter below a question about it": (f"What do you think of this?\n\n{LONG}", "What do you think of this?"),
    "an article below a link": (f"https://example.org/article\n\n{LONG}\n\n{LONG}", "https://example.org/article"),
    "a text to be checked": (f"Can you check this for me, I'm in a hurry\n\n{LONG}",
                             "Can you check this for me, I'm in a hurry"),
    "something that came": (f"My landlord is odd. I got this today\n\n{LONG}", "My landlord is odd. I got this today"),
    "a letter without a header": (
        f"I like jazz. And look:\nDear Ms Ulysses,\n{LONG}\nKind regards,\nTom\nAtlantis\n01 234",
        "I like jazz. And look:",
    ),
    "a letter that is all of the message": ("Dear Tom,\nI live in Atlantis.\nYours,\nUlysses", ""),
    "a letter signed in the line of its closing": (
        f"Proofread please.\n\nDear Sir,\n{LONG}\nYours, Mrs. J. Tapley\n\n(She's my neighbor.)",
        "Proofread please.",
    ),
    "a mail from a telephone": ("See below\nHi Tom,\nI live in Atlantis.\nSent from my phone", "See below"),
    "a text to make shorter": (f"Please make this shorter: {LONG}", "Please make this shorter:"),
    "a forwarded mail": (f"fyi\nOn Monday Tom wrote:\n{LONG}", "fyi\nOn Monday Tom wrote:"),
    "a mail with its header": (f"Help me answer\n\nFrom: Tom Ray <t@example.org>\nSubject: Horses\n\n{LONG}",
                               "Help me answer"),
}  # fmt: skip
OWN = {
    "a short remark below a question": "What do you think of this?\n\nI like jazz and I live in Porto.",
    "several paragraphs of one's own": f"I have news.\n\n{LONG}\n\n{LONG}",
    "a message written like a letter": f"Hello,\n{LONG}\nBest,\nTom",
    "thanks at the end": f"{LONG}\nThanks!",
    "a letter to Recall itself": "Dear assistant,\nI live in Porto.\nYours,\nUlysses",
    "a greeting": f"Hi Recall,\n{LONG}",
}


@pytest.mark.parametrize(("text", "left"), BORROWED.values(), ids=BORROWED.keys())
def test_what_was_brought_along_is_blanked(text: str, left: str) -> None:
    assert mask_foreign_text(text).rstrip() == left


@pytest.mark.parametrize("text", OWN.values(), ids=OWN.keys())
def test_ones_own_words_stay(text: str) -> None:
    assert mask_foreign_text(text) == text


def test_an_echo_is_blanked_and_every_position_stays() -> None:
    text = "Yes. I live in\nAtlantis. I like jazz."
    assert mask_foreign_text(text, [(5, 24)]) == "Yes." + " " * 10 + "\n" + " " * 10 + "I like jazz."


@given(st.text(alphabet="ab \n.,:\"'>`-“”", max_size=300), st.lists(st.integers(0, 300), max_size=6))
def test_the_positions_are_those_of_the_message(text: str, ends: list[int]) -> None:
    cuts = sorted(min(end, len(text)) for end in ends)
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    own = mask_foreign_text(text, spans)
    assert len(own) == len(text)
    assert all(one in (other, " ") for one, other in zip(own, text, strict=True))
    assert mask_foreign_text(text, []) == mask_foreign_text(text)
    assert len(mask_spans(text, spans)) == len(text)


@pytest.mark.parametrize("piece", ["Dear Tom,\n", "Yours,\n", "\n\n", "hi ", "make this ", "https://x ", "dear "])
def test_the_time_grows_with_the_length_and_no_faster(piece: str) -> None:
    started = time.process_time()
    mask_foreign_text((piece * 60_000)[:200_000])
    assert time.process_time() - started < 5


def test_messages_without_pastes_keep_what_they_tell() -> None:
    """In the labeled messages (development part), the words a fact needs remain wherever they are the user's."""
    path = BASE_DIR / "tests/memory/data" / "librarian_development.jsonl"
    messages = [json.loads(line) for line in path.read_text().splitlines()]
    told = [(message["text"], word) for message in messages for fact in message["facts"] for word in fact["words"]]
    lost = [(text, word) for text, word in told if word in text and word not in mask_foreign_text(text)]
    assert len(lost) <= len(told) * 0.02, lost
