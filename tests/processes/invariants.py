"""What must be true of the rows after any number of kills, once every process runs again."""

from collections import Counter
from collections.abc import Iterable
from typing import Final, LiteralString

from tests.processes.conftest import Rows
from tests.processes.crowd import Memory

MUST_BE_EMPTY: Final[dict[str, LiteralString]] = {
    "answers that no process writes and that are not over": "SELECT id FROM chat_message WHERE status = 'streaming'",
    "client ids that were accepted twice": """
        SELECT user_id, client_id FROM chat_message WHERE client_id IS NOT NULL
        GROUP BY user_id, client_id HAVING count(*) > 1
    """,
    "messages with the same number": """
        SELECT conversation_id, seq FROM chat_message GROUP BY conversation_id, seq HAVING count(*) > 1
    """,
    "conversations that do not end with their last answer": """
        SELECT c.id FROM chat_conversation c JOIN chat_message m ON m.id = c.active_leaf_id
        WHERE m.role <> 'assistant' OR c.next_seq <= m.seq
    """,
    "questions that are not indexed": """
        SELECT id FROM chat_message q WHERE event_type = 'user_message'
        AND NOT EXISTS (SELECT FROM memory_chunk k WHERE k.message_id = q.id)
    """,
    "passages that are indexed twice": """
        SELECT message_id FROM memory_chunk WHERE message_id IS NOT NULL
        GROUP BY message_id, text HAVING count(*) > 1
    """,
    "passages without a vector": "SELECT id FROM memory_chunk WHERE vector IS NULL",
    "receipts that are open": "SELECT id FROM budget_receipt WHERE state = 'open'",
    "complete answers without their receipt": """
        SELECT id FROM chat_message a WHERE role = 'assistant' AND status = 'complete'
        AND NOT EXISTS (SELECT FROM budget_receipt r WHERE r.message_id = a.id AND r.state = 'complete')
    """,
    "interrupted answers with a text and without a receipt, or one without tokens": """
        SELECT id FROM chat_message a WHERE role = 'assistant' AND status = 'interrupted' AND text <> ''
        AND NOT EXISTS (
            SELECT FROM budget_receipt r
            WHERE r.message_id = a.id AND r.state = 'stopped' AND input_tokens > 0 AND output_tokens > 0
        )
    """,
    "answers with two receipts": """
        SELECT message_id FROM budget_receipt WHERE message_id IS NOT NULL GROUP BY message_id HAVING count(*) > 1
    """,
    "librarian runs that are not done": "SELECT id FROM memory_librarianrun WHERE state <> 'done'",
    "questions that the librarian did not read": """
        SELECT id FROM chat_message q WHERE event_type = 'user_message'
        AND NOT EXISTS (
            SELECT FROM memory_librarianrun r
            WHERE r.conversation_id = q.conversation_id AND q.seq BETWEEN r.first_seq AND r.last_seq
        )
    """,
    "messages that were read twice": """
        SELECT a.id FROM memory_librarianrun a JOIN memory_librarianrun b USING (conversation_id)
        WHERE a.id < b.id AND a.first_seq <= b.last_seq AND b.first_seq <= a.last_seq
    """,
    "facts that were learned twice": """
        SELECT user_id, statement FROM memory_fact WHERE status IN ('active', 'proposed')
        GROUP BY user_id, statement HAVING count(*) > 1
    """,
    "compactions that are stuck": "SELECT id FROM chat_compaction WHERE state IN ('pending', 'running')",
    "tasks that were not sent": "SELECT id FROM recall_unsent_task",
}
SHOWN: Final = 3
"""Rows that are named of each violation."""


def violations(rows: Rows, people: Iterable[Memory]) -> list[str]:
    """What is wrong, one sentence each; empty: every invariant holds."""
    memories = list(people)
    return [*_in_rows(rows), *_accepted(rows, memories), *_complete(rows, memories)]


def _in_rows(rows: Rows) -> list[str]:
    found = {what: rows.ask(query) for what, query in MUST_BE_EMPTY.items()}
    return [f"{len(wrong)} {what}: {wrong[:SHOWN]}" for what, wrong in found.items() if wrong]


def _accepted(rows: Rows, people: list[Memory]) -> list[str]:
    """Each message is stored once, with as many answers as were accepted."""
    told = Counter[str]()
    for memory in people:
        told.update(memory.accepted)
    stored = rows.ask(
        """
        SELECT q.text, count(DISTINCT q.id), count(a.id) FROM chat_message q
        LEFT JOIN chat_message a ON a.parent_id = q.id AND a.role = 'assistant'
        WHERE q.event_type = 'user_message' GROUP BY q.text
        """
    )
    counts = {text: (questions, answers) for text, questions, answers in stored}
    wrong = [f"{text} {counts.get(text)}" for text, answers in told.items() if counts.get(text) != (1, answers)]
    unknown = counts.keys() - told.keys()
    return [f"accepted, and not stored once with its answers: {one}" for one in wrong] + [
        f"stored, and never accepted: {text}" for text in unknown
    ]


def _complete(rows: Rows, people: list[Memory]) -> list[str]:
    """What a page showed as complete is stored as it was shown."""
    stored = {answer: (status, text) for answer, status, text in rows.ask("SELECT id, status, text FROM chat_message")}
    return [
        f"shown as complete, and stored otherwise: {answer} {stored.get(answer)}"
        for memory in people
        for answer, text in memory.complete.items()
        if stored.get(answer) != ("complete", text)
    ]
