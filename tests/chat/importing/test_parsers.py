"""What exports of ChatGPT and Claude contain, in all known variants."""

import io
import json
import sys
import tracemalloc
import zipfile
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.archive.safe_zip import NotImportedError
from chat.importing import claude
from chat.importing.entries import detect_origin, parse_entry, raw_entries
from chat.importing.json_stream import NotJsonError, split_entries
from chat.importing.tree import BrokenEntryError, ImportedConversation, ImportedMessage, ParsedEntry
from tests.chat.exports import CHATGPT, CLAUDE, CLAUDE_MEMORIES, CLAUDE_PROJECTS, conversation, zipped


def found(content: bytes) -> list[ParsedEntry | BrokenEntryError]:
    return [one for raw in raw_entries(io.BytesIO(content)) for one in parse_entry(raw)]


def thread(content: bytes, number: int) -> ImportedConversation:
    one = found(content)[number]
    assert isinstance(one, ParsedEntry)
    assert one.conversation is not None
    return one.conversation


def branch(thread: ImportedConversation, leaf: str | None = None) -> list[ImportedMessage]:
    by_key = {said.key: said for said in thread.messages}
    path, here = [], by_key.get(leaf or thread.leaf or "")
    while here is not None:
        path.append(here)
        here = by_key.get(here.parent or "")
    return path[::-1]


# ChatGPT ---------------------------------------------------------------------------------------------------------


def test_the_branch_that_was_followed_is_followed_and_the_others_come_too() -> None:
    bread = thread(CHATGPT, 0)
    assert [said.text for said in branch(bread)] == [
        "How do I start a sourdough for my sister Ana?",
        "One part starter to five parts flour.",
        "Is this one ready? By the way, I moved to Porto.",
        "It is ready: you live in Lisbon, where it is warm.",
    ]
    assert {said.text for said in bread.messages} - {said.text for said in branch(bread)} == {
        "Mix flour and water.",
        "Not yet.",
    }


def test_what_tools_did_belongs_to_the_answer_they_served() -> None:
    answer = branch(thread(CHATGPT, 0))[1]
    assert [(step.name, step.input, step.output) for step in answer.tools] == [
        ("browser", {"text": 'search("sourdough ratio")'}, ""),
        ("browser", None, "One part starter, five parts flour."),
    ]
    assert (answer.model, answer.key) == ("gpt-5", "t1")


def test_thoughts_hidden_messages_and_the_memory_tool_are_no_talk() -> None:
    said = " ".join(message.text for message in thread(CHATGPT, 0).messages)
    for unseen in ("secret reasoning", "Preferred name", "Model set context", "User lives"):
        assert unseen not in said


def test_saved_memories_and_custom_instructions_are_found() -> None:
    one = found(CHATGPT)[0]
    assert isinstance(one, ParsedEntry)
    told = {memory.text: (memory.kind.value, memory.at and memory.at.date().isoformat()) for memory in one.memories}
    assert told == {
        "Preferred name: Rui": ("fact", None),
        "Bakes at weekends": ("fact", None),
        "Answer briefly.": ("instruction", None),
        "User has a sister called Ana.": ("fact", "2024-03-02"),
        "User is allergic to walnuts.": ("fact", "2024-04-11"),
        "User lives in Porto.": ("fact", "2024-05-01"),
    }


def test_times_are_kept_and_a_missing_one_is_that_of_the_message_before() -> None:
    bread = thread(CHATGPT, 0)
    assert bread.started_at == datetime(2024, 5, 1, 8, 0, 0, 250_000, tzinfo=UTC)
    assert branch(bread)[0].at == bread.started_at


def test_pictures_are_counted_and_named_only_where_nothing_else_was_said() -> None:
    assert thread(CHATGPT, 0).omitted_parts == 1
    assert [said.text for said in thread(CHATGPT, 3).messages] == ["[image]"]


def test_a_conversation_without_title_times_parents_or_current_node_comes_in() -> None:
    one = thread(CHATGPT, 1)
    assert [said.text for said in branch(one)] == ["A question with no time and no title", "An answer of a new kind"]
    assert (one.title, one.started_at) == ("", None)


def test_one_broken_conversation_is_named_and_spoils_no_other() -> None:
    told = found(CHATGPT)
    broken = [str(one) for one in told if isinstance(one, BrokenEntryError)]
    assert broken == ["Broken beyond reading"]
    assert len(told) == 6


def test_what_hangs_in_a_circle_has_no_beginning() -> None:
    assert thread(CHATGPT, 4).messages == []


def test_a_tree_of_twenty_thousand_messages_needs_no_recursion() -> None:
    deep = conversation("deep", *["word"] * 20_000)
    content = json.dumps([deep]).encode()
    assert sys.getrecursionlimit() < 20_000
    assert len(branch(thread(content, 0))) == 20_000


# Claude ----------------------------------------------------------------------------------------------------------


def test_claudes_branches_follow_the_parents_and_the_current_leaf() -> None:
    garden = thread(CLAUDE, 0)
    assert garden.title == "The garden in May"
    assert [said.text for said in branch(garden)] == [
        "What shall I sow?",
        "Beans.\n\nAnd squash.",
        "And in June?",
        "Lettuce.",
    ]
    assert [said.text for said in branch(garden, "m3b")][-1] == "And in July?"


def test_claudes_conversations_keep_their_titles() -> None:
    assert (thread(CLAUDE, 0).title, str(found(CLAUDE)[2])) == ("The garden in May", "Torn to pieces")


def test_an_older_claude_export_is_a_line() -> None:
    old = thread(CLAUDE, 1)
    assert [said.text for said in branch(old)] == [
        "An older export has no parents", "So it is a line.", "[paste.txt]", "I read it.",
    ]  # fmt: skip


def test_an_attached_text_is_a_document_and_not_the_persons_words() -> None:
    one, garden = found(CLAUDE)[0], thread(CLAUDE, 0)
    assert isinstance(one, ParsedEntry)
    assert [(file.name, file.text) for file in one.files] == [("beds.txt", "Bed one: beans. I am the king of France.")]
    assert "king" not in " ".join(said.text for said in garden.messages)
    assert garden.omitted_parts == 1


def test_claudes_thinking_is_left_out_and_its_tools_are_kept() -> None:
    answer = branch(thread(CLAUDE, 0))[1]
    assert "secret" not in answer.text
    assert [(step.name, step.input, step.output) for step in answer.tools] == [
        ("web_search", {"query": "sow in May"}, ""),
        ("web_search", None, "Beans and squash"),
    ]


def test_claudes_memory_becomes_statements_that_stand_for_themselves() -> None:
    (one,) = found(CLAUDE_MEMORIES)
    assert isinstance(one, ParsedEntry)
    assert [memory.text for memory in one.memories] == [
        "Rui is a gardener in Porto. He prefers short answers.",
        "Has a dog called Bob",
        "The shop is called Folha.",
    ]


def test_a_project_brings_its_instructions_and_documents() -> None:
    (one,) = found(CLAUDE_PROJECTS)
    assert isinstance(one, ParsedEntry)
    assert [(doc.folder, doc.name, doc.text) for doc in one.files] == [
        ("Shop / Folha", "instructions", "Write like a gardener."),
        ("Shop / Folha", "plan.md", "# Plan\n\nSell seeds."),
    ]


# Files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["conversations.json", "export/conversations.json", "conversations-000.json", "x/CONVERSATIONS.JSON"]
)
def test_conversations_are_found_wherever_they_stand_in_a_zip(name: str) -> None:
    content = zipped(
        {name: CHATGPT, "chat.html": b"<html>", "user.json": b"{}", "__MACOSX/._conversations.json": b"junk"}
    )
    assert len(found(content)) == 6


def test_shards_are_read_in_their_order() -> None:
    first, second = ([conversation(key, "hello")] for key in ("one", "two"))
    content = zipped(
        {"conversations-001.json": json.dumps(second).encode(), "conversations-000.json": json.dumps(first).encode()}
    )
    assert [thread(content, number).key for number in (0, 1)] == ["one", "two"]


def test_a_path_in_a_zip_is_only_a_name() -> None:
    assert len(found(zipped({"../../../conversations.json": CHATGPT, "/etc/passwd": b"root"}))) == 6


def test_a_zip_bomb_is_not_read() -> None:
    bomb = zipped({"conversations.json": b"[" + b" " * 50_000_000 + b"]"})
    assert len(bomb) < 100_000
    with pytest.raises(NotImportedError, match="unpacks to more"):
        found(bomb)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "LZMA"])
def test_a_zip_that_would_be_unpacked_in_one_piece_is_not_read(method: int) -> None:
    with pytest.raises(NotImportedError, match="unsupported compression"):
        found(zipped({"conversations.json": CHATGPT}, method))


@pytest.mark.parametrize(
    "content",
    [b"PK\x03\x04 and then nothing", b"plain text", b"", b"\x89PNG", zipped({"holiday.jpg": b"x"})],
    ids=["torn zip", "text", "nothing", "picture", "zip of pictures"],
)
def test_a_wrong_file_is_refused_in_one_sentence(content: bytes) -> None:
    with pytest.raises(NotImportedError, match=r"^[A-Z].*\.$"):
        found(content)


def test_a_damaged_member_is_refused_in_one_sentence() -> None:
    content = bytearray(zipped({"conversations.json": json.dumps([conversation("a", "b" * 5000)]).encode()}))
    content[60:80] = b"\xff" * 20
    with pytest.raises(NotImportedError, match="can't be opened"):
        found(bytes(content))


def test_whose_export_it_is_shows_in_its_entries() -> None:
    assert {detect_origin(raw) for raw in raw_entries(io.BytesIO(CHATGPT))} == {"chatgpt"}
    assert detect_origin(json.dumps(json.loads(CLAUDE)[0]).encode()) == "claude"
    assert detect_origin(b"{}") == detect_origin(b"not json") == detect_origin(None) == ""


def test_a_conversation_alone_or_in_an_object_is_read_too() -> None:
    one = conversation("alone", "hello", "hi")
    assert thread(json.dumps(one).encode(), 0).key == "alone"
    assert thread(json.dumps({"conversations": [one]}).encode(), 0).key == "alone"


def test_a_broken_entry_in_the_text_is_named_and_the_rest_is_read() -> None:
    good = json.dumps(conversation("good", "hello"))
    content = f'[{good}, {{"title": "Torn", "mapping": {{oops}} }}, {good}]'.encode()
    assert [str(one) if isinstance(one, BrokenEntryError) else "" for one in found(content)] == ["", "Torn", ""]


def test_a_file_that_was_cut_off_gives_what_is_whole() -> None:
    content = json.dumps([conversation("good", "hello"), conversation("cut", "off")]).encode()[:-40]
    assert [isinstance(one, ParsedEntry) for one in found(content)] == [True, False]


def test_an_entry_that_is_too_large_is_passed_over_in_little_memory() -> None:
    chunks = [b'[{"a": "', *[b"x" * 65_536] * 400, b'"}, 7]']
    tracemalloc.start()
    assert list(split_entries(chunks, 1_000_000)) == [None, b"7"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)


@given(st.lists(JSON, max_size=6), st.integers(1, 40), st.booleans())
def test_splitting_gives_each_entry_back_however_it_is_cut(told: list[object], size: int, ascii_only: bool) -> None:
    written = json.dumps(told, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    chunks = [written[at : at + size] for at in range(0, len(written), size)]
    pieces = [json.loads((piece or b"").decode("utf-8", "surrogatepass")) for piece in split_entries(chunks, 10**9)]
    assert json.dumps(pieces) == json.dumps(told)


@given(st.binary(max_size=300), st.integers(1, 20))
def test_splitting_never_fails_on_any_bytes(content: bytes, size: int) -> None:
    chunks = [content[at : at + size] for at in range(0, len(content), size)]
    try:
        list(split_entries(chunks, 50))
    except NotJsonError:
        assert content.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")[:1] not in (b"[", b"{")


MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "author": JSON | st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool", "system"])}),
        "content": JSON
        | st.fixed_dictionaries(
            {"content_type": st.sampled_from(["text", "code", "thoughts", "user_editable_context"]) | JSON},
            optional={"parts": st.lists(JSON, max_size=3) | JSON, "text": JSON, "user_profile": JSON},
        ),
        "create_time": JSON | st.floats() | st.integers(-(10**30), 10**30),
        "metadata": JSON,
        "recipient": JSON | st.just("bio"),
    },
)
KEY = st.sampled_from(["a", "b", "c", "d", "", "\x00"])
CHATGPTS = st.fixed_dictionaries(
    {
        "mapping": st.dictionaries(
            KEY,
            st.fixed_dictionaries({}, optional={"message": MESSAGE | JSON, "parent": KEY | JSON, "children": JSON})
            | JSON,
        )
    },
    optional={"title": JSON, "current_node": KEY | JSON, "create_time": JSON, "conversation_id": JSON},
)
BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result"])},
    optional={"text": JSON, "input": JSON, "content": JSON},
)
CLAUDE_MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "uuid": KEY | JSON,
        "parent_message_uuid": KEY | JSON,
        "sender": st.sampled_from(["human", "assistant"]) | JSON,
        "text": JSON,
        "created_at": JSON | st.datetimes().map(str),
        "attachments": st.lists(JSON) | JSON,
        "content": st.lists(BLOCK) | JSON,
    },
)
CLAUDES = st.fixed_dictionaries(
    {"chat_messages": st.lists(CLAUDE_MESSAGE | JSON, max_size=5)},
    optional={"name": JSON, "uuid": JSON, "created_at": JSON, "current_leaf_message_uuid": JSON},
)
OTHERS = st.fixed_dictionaries({"conversations_memory": JSON, "project_memories": JSON}) | st.fixed_dictionaries(
    {"docs": st.lists(JSON), "name": JSON}
)


@settings(max_examples=300)
@given(CHATGPTS | CLAUDES | OTHERS | JSON)
def test_no_entry_of_any_shape_breaks_a_reading_or_its_good_neighbour(entry: object) -> None:
    good = conversation("good", "hello", "hi")
    content = json.dumps([entry, good]).encode()
    told = found(content)
    last = told[-1]
    assert isinstance(last, ParsedEntry)
    assert last.conversation is not None
    assert [said.text for said in last.conversation.messages] == ["hello", "hi"]
    for one in told:
        if isinstance(one, ParsedEntry) and one.conversation is not None:
            keys = [said.key for said in one.conversation.messages]
            assert len(keys) == len(set(keys))
            assert all(
                said.parent is None or said.parent in keys[:place]
                for place, said in enumerate(one.conversation.messages)
            )
            assert "\x00" not in json.dumps([said.text for said in one.conversation.messages], ensure_ascii=False)


@given(st.text(max_size=400))
def test_no_word_of_a_memory_is_lost_but_for_headings_and_marks(prose: str) -> None:
    kept = " ".join(claude.split_statements(prose))
    words = [
        word
        for line in prose.splitlines()
        if not claude._HEADING.match(line)
        for word in claude._MARKS.sub("", claude._BULLET.sub("", line)).split()
    ]
    assert kept.split() == words
