"""A file of conversations is read in either of its two layouts, or refused in one sentence."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.evaluation.datasets import UnknownLayoutError, parse_date, read

TWO_PEOPLE: dict[str, Any] = {
    "name": "two people",
    "conversations": [
        {
            "id": "tea",
            "speakers": ["Ana", "Ben"],
            "sessions": [
                {
                    "id": 1,
                    "datetime": "2024-03-01T09:30",
                    "turns": [
                        {"id": "D1:1", "speaker": "Ana", "text": "I bought a kettle."},
                        {"id": "D1:2", "speaker": "Ben", "text": "Show me!", "image_caption": "a red kettle"},
                    ],
                },
                {
                    "id": 2,
                    "datetime": "2024-05-02T18:00",
                    "turns": [{"id": "D2:1", "speaker": "Ben", "text": "It broke.", "image_caption": None}],
                },
            ],
            "questions": [
                {
                    "id": "tea#0",
                    "question": "Which colour is the kettle?",
                    "answer": "red",
                    "category": "single-hop",
                    "evidence": ["D1:2"],
                }
            ],
        }
    ],
}

WITH_AN_ASSISTANT: dict[str, Any] = {
    "conversations": [
        {
            "id": 7,
            "messages": [
                {"id": 0, "role": "user", "date": "March-15-2024", "session": [1, 0], "text": "Plan my week."},
                {"id": 1, "role": "assistant", "date": "March-15-2024", "session": [1, 0], "text": "x" * 5000},
                {"id": 2, "role": "user", "date": "April-02-2024", "session": [2, 0], "text": "x" * 5000},
            ],
            "questions": [
                {"id": "7-0", "question": "What did I ask?", "category": "summarization", "evidence": [0, 2]}
            ],
        }
    ],
}


@pytest.fixture
def written(tmp_path: Path) -> Any:
    """`written(content)` returns the path of a file with it."""

    def written(content: Any) -> Path:
        path = tmp_path / "talk.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return written


def test_turns_of_two_people_keep_their_names_and_dates(written: Any) -> None:
    (conversation,) = read(written(TWO_PEOPLE))
    assert conversation.id == "tea"
    assert [item.id for item in conversation.items] == ["D1:1", "D1:2", "D2:1"]
    assert [item.author for item in conversation.items] == ["Ana", "Ben", "Ben"]
    assert [session.date for session in conversation.sessions] == [
        datetime(2024, 3, 1, 9, 30, tzinfo=UTC),
        datetime(2024, 5, 2, 18, 0, tzinfo=UTC),
    ]
    assert conversation.sessions[0].items[1].when == datetime(2024, 3, 1, 9, 30, 10, tzinfo=UTC)


def test_a_shared_image_is_told_by_its_caption(written: Any) -> None:
    (conversation,) = read(written(TWO_PEOPLE))
    assert [item.rendered for item in conversation.items] == [
        "Ana: I bought a kettle.",
        "Ben: Show me! [shared image: a red kettle]",
        "Ben: It broke.",
    ]


def test_now_is_the_end_of_the_last_session(written: Any) -> None:
    (conversation,) = read(written(TWO_PEOPLE))
    assert conversation.ended_at == datetime(2024, 5, 2, 18, 0, tzinfo=UTC)


def test_a_line_takes_a_token_for_every_four_characters(written: Any) -> None:
    (conversation,) = read(written(TWO_PEOPLE))
    # “[2024-03-01] Ana: I bought a kettle.” and its line end are 37 characters
    assert conversation.items[0].tokens == 10


def test_messages_of_one_date_are_one_session(written: Any) -> None:
    (conversation,) = read(written(WITH_AN_ASSISTANT))
    assert conversation.id == "7"
    assert [len(session.items) for session in conversation.sessions] == [2, 1]
    assert [item.role for item in conversation.items] == ["user", "assistant", "user"]
    assert [item.rendered[:10] for item in conversation.items] == ["user: Plan", "assistant:", "user: xxxx"]
    assert conversation.ended_at == datetime(2024, 4, 2, 12, 0, tzinfo=UTC)


def test_an_assistants_long_message_counts_as_one_passage(written: Any) -> None:
    (conversation,) = read(written(WITH_AN_ASSISTANT))
    # “[March-15-2024] user: ” is 22 characters, “[March-15-2024] assistant: ” 27, “[April-02-2024] user: ” 22
    assert [item.tokens for item in conversation.items] == [6 + 4, 7 + 225, 6 + 1250]


def test_ids_stay_numbers_where_they_are_numbers(written: Any) -> None:
    (conversation,) = read(written(WITH_AN_ASSISTANT))
    assert [item.id for item in conversation.items] == [0, 1, 2]
    assert conversation.questions[0].evidence == frozenset({0, 2})


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2024-03-15T09:30", datetime(2024, 3, 15, 9, 30, tzinfo=UTC)),
        ("2024-03-15T00:00:00Z", datetime(2024, 3, 15, tzinfo=UTC)),
        ("2024-03-15 09:30", datetime(2024, 3, 15, 9, 30, tzinfo=UTC)),
        ("2024-03-15", datetime(2024, 3, 15, 12, tzinfo=UTC)),
        ("March-15-2024", datetime(2024, 3, 15, 12, tzinfo=UTC)),
    ],
)
def test_a_date_without_a_time_means_noon(said: str, meant: datetime) -> None:
    assert parse_date(said) == meant


def _with(change: dict[str, Any]) -> dict[str, Any]:
    return {"conversations": [{"id": 1, "questions": [], **change}]}


@pytest.mark.parametrize(
    ("content", "wrong"),
    [
        ("not JSON", "Invalid JSON"),
        ([1, 2], "Input should be an object"),
        ({"chats": []}, "conversations: Field required"),
        ({"conversations": []}, "at least 1 item"),
        ({"conversations": [3]}, "a conversation has neither sessions nor messages"),
        (_with({"turns": []}), "a conversation has neither sessions nor messages"),
        (_with({"sessions": []}), "at least 1 item"),
        (_with({"sessions": [{"datetime": "2024-03-01", "turns": []}]}), "no session has a turn"),
        (_with({"messages": [{"id": 1, "role": "user", "date": "last Monday", "text": "Hi"}]}), "“last Monday”"),
        (
            _with({"messages": [{"id": 1, "role": "robot", "date": "2024-03-01", "text": "Hi"}]}),
            "'user' or 'assistant'",
        ),
    ],
)
def test_a_file_in_neither_layout_is_refused_in_one_sentence(written: Any, content: Any, wrong: str) -> None:
    with pytest.raises(UnknownLayoutError) as refusal:
        read(written(content))
    sentence = str(refusal.value)
    assert sentence.startswith("talk.json is in neither of the two layouts")
    assert wrong in sentence
    assert "\n" not in sentence
