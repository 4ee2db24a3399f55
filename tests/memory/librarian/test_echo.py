"""The librarian learns only from the user, not from what Recall, its assistant, a tool or a document said.

20 conversations are generated, each from its seed. Their assistant repeats, embellishes and contradicts what is known;
their user agrees, asks, and sometimes pastes the assistant's words back. They end with exactly the facts the user
stated.
"""

import json
import random
import re
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise, product
from typing import Any

import pytest

from accounts.models import User
from budget.models import Receipt
from chat.models import Conversation, Message
from memory.librarian import run as librarian
from memory.librarian.decision import Reason
from memory.librarian.echo import RUN, mark_echoes
from memory.librarian.model_engine import ModelEngine
from memory.librarian.run import request_reading, run_extraction
from memory.models import Document, Fact, LibrarianRun
from memory.ports.source import ContextText, Speaker, Utterance
from memory.text.user_text import mask_foreign_text
from recall.llm import client

pytestmark = pytest.mark.usefixtures("queued", "embedded_once")

PAIRS = list(product(range(5), range(12)))
"""Which of the claims meets which of the replies: each conversation has three."""
CONVERSATIONS = len(PAIRS) // 3
READ_BY_RULES = 6
"""The rules read one sentence like another; the model may be greedy in a different way each time."""
AT = datetime(2026, 11, 21, 10, tzinfo=UTC)

TOPICS = {
    ("I live in {}.", "you live in {}", "The user lives in {}."): ("Porto", "Braga", "Faro", "Ghent", "Turin"),
    ("My favourite colour is {}.", "your favourite colour is {}", "The user's favourite colour is {}."): (
        "green", "violet", "orange", "turquoise",
    ),
    ("I work as a {}.", "you work as a {}", "The user works as a {}."): ("nurse", "welder", "baker", "pilot"),
    ("I like {}.", "you like {}", "The user likes {}."): ("jazz", "chess", "sailing", "opera", "gardening"),
    ("I speak {}.", "you speak {}", "The user speaks {}."): ("Dutch", "Greek", "Polish", "Basque"),
}  # fmt: skip
"""(as the user says it, as the assistant says it, as it is remembered): the possible values."""


@dataclass
class Talk:
    """A generated conversation, and what the user stated in it."""

    lines: list[tuple[Speaker, str]] = field(default_factory=list)
    stated: set[str] = field(default_factory=set)

    def user(self, text: str) -> None:
        self.lines.append(("user", text))

    def assistant(self, text: str) -> None:
        self.lines.append(("assistant", text))


type Claim = tuple[str, str, str]


def talk(seed: int) -> Talk:
    """The conversation with this seed, below `CONVERSATIONS`: always the same."""
    chance, made = random.Random(seed), Talk()
    topics = chance.sample(sorted(TOPICS), 3)
    true: list[Claim] = []
    false: list[Claim] = []
    for topic in topics:
        right, wrong = chance.sample(TOPICS[topic], 2)
        true.append(tuple(form.format(right) for form in topic))  # type: ignore[arg-type]
        false.append(tuple(form.format(wrong) for form in topic))  # type: ignore[arg-type]
    made.user(chance.choice(["Hi there!", "Can you help me with a letter?", "What do you know about me?"]))
    for number, (mine, lie) in enumerate(zip(true, false, strict=True)):
        kind, reply = PAIRS[seed + CONVERSATIONS * number]
        claim = _claims(lie)[kind]
        made.assistant(claim)
        made.user(_replies(claim, chance)[reply])
        made.assistant(chance.choice(_claims(lie)))
        if number < 2:  # the user says nothing about the last topic in their own words
            made.user(chance.choice(["{}", "By the way, {}", "Thanks! {}"]).format(mine[0]))
            made.stated.add(mine[2])
            made.assistant(f"So {mine[1]}, with your three horses and your brother Ulysses in Atlantis. {lie[0]}")
        made.user(chance.choice(_replies(made.lines[-1][1], chance)))
    made.assistant("Good bye.")
    return made


def _claims(lie: Claim) -> list[str]:
    """What the assistant may claim about the user that the user hasn't said."""
    return [
        f"As I remember, {lie[1]}. Is that still so?",
        f"Here is a line for your profile: {lie[0]} I can make it longer.",
        f"My notes say: {lie[2]} They also say that you keep three horses in Atlantis.",
        f"Since {lie[1]}, I suggest this letter.\n\nDear Ms Ulysses,\n{lie[0]} I have three horses.\nYours",
        f"Somebody has told me that {lie[1]}. No, wait, there is more: {lie[2]}",
    ]


def _replies(claim: str, chance: random.Random) -> list[str]:
    """What the user may reply: agreeing, asking, or repeating the assistant's own words."""
    sentence = chance.choice([part for part in re.split(r"(?<=[.?!:])\s+", claim) if len(part.split()) > 2])
    return [
        "Yes, that's right.",
        "Correct!",
        "Why do you think so?",
        claim,
        sentence,
        sentence.lower(),
        sentence.rstrip("."),
        f"You wrote:\n{claim}",
        f"What do you think of this?\n\n{claim}",
        f"{sentence} {sentence}",
        f"Please make this shorter: {claim}",
        f"Hm. {sentence} Is that so?",
    ]


def held(user: User, lines: list[tuple[Speaker, str]]) -> Conversation:
    """The conversation as rows."""
    conversation = Conversation.objects.create(user=user, next_seq=len(lines) + 1)
    events = {"user": "user_message", "assistant": "assistant_response"}
    messages = Message.objects.bulk_create(
        Message(
            user=user, conversation=conversation, seq=seq, turn=(seq + 1) // 2, role=speaker,
            event_type=events[speaker], text=text,
        )
        for seq, (speaker, text) in enumerate(lines, start=1)
    )  # fmt: skip
    for earlier, later in pairwise(messages):
        later.parent = earlier
    Message.objects.bulk_update(messages, ["parent"])
    conversation.active_leaf = messages[-1]
    conversation.save()
    return conversation


def read_all(conversation: Conversation, first: int = 1) -> LibrarianRun:
    run = request_reading(conversation.user_id, conversation.pk, first, conversation.next_seq - 1, "ended")
    assert run is not None
    run_extraction(run.pk)
    run.refresh_from_db()
    assert run.state == "done", run.error
    return run


def active(user: User) -> set[str]:
    return set(Fact.objects.for_user(user).filter(status="active").values_list("statement", flat=True))


def somebody(number: int) -> User:
    user: User = User.objects.create(email=f"{number}@example.org", preferred_name="Sam")
    return user


def test_conversations_end_with_what_the_user_stated_read_by_rules(db: None) -> None:
    for number in range(READ_BY_RULES):
        made, user = talk(number), somebody(number)
        read_all(held(user, made.lines))
        assert active(user) == made.stated, (number, made.lines)
        waiting = Fact.objects.for_user(user).exclude(status="active")
        assert not waiting.exists(), (number, list(waiting.values_list("statement", "reason")), made.lines)


def test_conversations_end_with_what_the_user_stated_however_greedy_the_model(
    db: None, offline_server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scripted model proposes every sentence it sees as a fact, whoever said it, with four quotes to choose
    from."""
    client.forget_capabilities()
    monkeypatch.setattr(librarian, "choose_engine", lambda: ModelEngine("claude-haiku-5-5"))
    for number in range(CONVERSATIONS):
        made, user = talk(number), somebody(number)
        _script(offline_server, made)
        read_all(held(user, made.lines))
        assert active(user) == made.stated, (number, made.lines)
        stated = Fact.objects.for_user(user).filter(source="stated", status="proposed")
        assert not stated.exclude(reason=Reason.HYPOTHETICAL).exists(), (number, list(stated.values("statement")))


def _script(server: str, made: Talk) -> None:
    body = json.dumps({"replies": [{"json": {"facts": list(_greedy(made))}}]}).encode()
    headers = {"content-type": "application/json"}
    for method, data in (("DELETE", None), ("POST", body)):
        request = urllib.request.Request(f"{server}/offline/script", data, headers, method=method)
        urllib.request.urlopen(request, timeout=10).close()


def _greedy(made: Talk) -> Iterator[dict[str, Any]]:
    for number, (speaker, text) in enumerate(made.lines, start=1):
        for sentence in re.split(r"(?<=[.?!:])\s+", text):
            statement = _as_statement(sentence)
            if statement is None:
                continue
            quotes = [(sentence.rstrip("."), number)]
            if speaker == "assistant":
                mine = [(said, at) for at, (who, said) in enumerate(made.lines, start=1) if who == "user"]
                quotes += [*[pair for pair in mine if pair[1] > number][:1], ("I", number + 1), ("Yes", number + 1)]
            for quote, at in quotes:
                yield {
                    "statement": statement, "kind": "fact", "quote": quote, "number": at, "confidence": 0.95,
                    "importance": 0.6,
                }  # fmt: skip


def _as_statement(sentence: str) -> str | None:
    """The sentence as it would be remembered, if it is one of the forms of a topic."""
    for mine, yours, remembered in TOPICS:
        for form in (mine, yours, remembered):
            found = re.search(re.escape(form.rstrip(".")).replace(r"\{\}", r"(\w+)"), sentence, re.I)
            if found:
                return remembered.format(found[1])
    return "The user keeps three horses in Atlantis." if "horses" in sentence else None


# What counts as said before --------------------------------------------------------------------------------------


def said(number: int, text: str, speaker: Speaker = "user") -> Utterance:
    return Utterance(number, number, speaker, text, AT)


def own(utterances: list[Utterance], *heard: ContextText) -> str:
    """The last message's own words."""
    last = mark_echoes(utterances, heard)[-1]
    return " ".join(mask_foreign_text(last.text, last.echoes).split())


LETTER = "I have lived in Atlantis for twenty years and I keep three horses."


@pytest.mark.parametrize(
    ("before", "text", "left"),
    [
        ("I live in Atlantis.", "I live in Atlantis.", "."),
        ("I live in Atlantis.", "i live in ATLANTIS", ""),
        ("I live in Atlantis.", "So it says I live in Atlantis, but I live in Faro.", None),
        (LETTER, f"Well. {LETTER} But I like jazz.", "Well. . But I like jazz."),
        (LETTER, "I have lived in Atlantis for twenty years, said he.", ", said he."),
        (LETTER, "I have lived in Faro for twenty years and I keep bees.", None),
        ("Where do you live?", "I live in Faro.", None),
        ("Yes, please.", "Yes, please.", None),
    ],
)
def test_what_the_assistant_said_first_is_not_the_users(before: str, text: str, left: str | None) -> None:
    found = own([said(1, before, "assistant"), said(2, text)])
    assert found == (" ".join(text.split()) if left is None else left)


def test_what_the_user_said_first_stays_theirs_when_the_assistant_repeats_it() -> None:
    talk = [said(1, LETTER), said(2, f"You said: {LETTER}", "assistant"), said(3, LETTER)]
    assert own(talk) == LETTER
    assert own(talk[1:], ContextText(1, LETTER, is_users=True)) == LETTER
    assert own(talk[1:]) != LETTER


def test_what_the_assistant_says_only_later_is_no_echo() -> None:
    first = mark_echoes([said(1, LETTER), said(2, LETTER, "assistant")], [])[0]
    assert first.echoes == ()


def test_a_pasted_quotation_does_not_make_the_words_the_users() -> None:
    talk = [said(1, f"> {LETTER}"), said(2, LETTER, "assistant"), said(3, LETTER)]
    assert own(talk) == "."


def test_a_run_is_as_long_as_it_says() -> None:
    words = [f"word{number}" for number in range(RUN + 2)]
    other = " ".join(words)
    assert own([said(1, other, "assistant"), said(2, f"my {' '.join(words[1:RUN])} then")]).startswith("my word1")
    assert own([said(1, other, "assistant"), said(2, f"my {' '.join(words[1 : RUN + 1])} then")]) == "my then"


@pytest.mark.parametrize("text", ["I keep bees. " * 10_000, "a " * 60_000, "x" * 120_000, ". " * 60_000])
def test_marking_is_linear(text: str) -> None:
    own([said(1, text, "assistant"), said(2, text)])


# What Recall put there, in rows ----------------------------------------------------------------------------------


def test_a_pasted_tool_result_is_no_evidence(alice: User) -> None:
    conversation = held(
        alice, [("user", "Look it up."), ("assistant", "Done."), ("user", LETTER), ("assistant", "Ok.")]
    )
    answer = Message.objects.get(conversation=conversation, seq=2)
    Message.objects.create(
        user=alice, conversation=conversation, seq=9, parent=answer, turn=1, role="tool", author="web_search",
        event_type="tool_result", text=f"Found: {LETTER}",
    )  # fmt: skip
    read_all(conversation)
    assert not Fact.objects.exists()


def test_a_pasted_memory_is_no_evidence(alice: User) -> None:
    page = Document.objects.create(user=alice, path="/reference/ulysses", title="Ulysses", text=LETTER)
    memory = Fact.objects.create(user=alice, statement="My notes: I live in Atlantis with Penelope.", status="proposed")
    chunk = page.chunks.create(user=alice, kind="document", text=LETTER)
    conversation = held(
        alice,
        [
            ("user", "Hi!"),
            ("assistant", "Hi."),
            ("user", f"{LETTER} I live in Atlantis with Penelope."),
            ("assistant", "?"),
        ],
    )
    answer = Message.objects.get(conversation=conversation, seq=2)
    kept = [{"ref": ref, "section": "memories", "kept": True} for ref in (chunk.ref, memory.ref)]
    Receipt.objects.create(
        user=alice, conversation=conversation, message=answer, turn=1, model="m", plan="standard", plan_total=1,
        request_digest="", items=kept,
    )  # fmt: skip
    read_all(conversation)
    assert list(Fact.objects.values_list("pk", flat=True)) == [memory.pk]


def test_an_answer_of_an_earlier_stretch_is_heard_too(alice: User) -> None:
    lines: list[tuple[Speaker, str]] = [("user", "Hi!"), ("assistant", LETTER), ("user", LETTER), ("assistant", "Ok.")]
    read_all(held(alice, lines), first=3)
    assert not Fact.objects.exists()


def test_bobs_answers_make_nothing_of_alices_an_echo(alice: User, bob: User) -> None:
    held(bob, [("user", "Hi!"), ("assistant", "I live in Porto.")])
    read_all(held(alice, [("user", "I live in Porto."), ("assistant", "Ok.")]))
    assert active(alice) == {"The user lives in Porto."}
