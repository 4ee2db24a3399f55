"""Response times of the admin's lists over many rows.

    .venv/bin/python -m bench.pages.admin [--messages 300000] [--facts 50000]

On a throw-away server: one person with a tenth of the rows, and a hundred others. Printed is each list's time on the
server, the median of five, with its statements: as it opens, filtered, of one person, by number, and its last page.
"""

import argparse
import statistics
import time
from typing import Any, Final

from bench.own_database import own_database

PEOPLE: Final = 100
BUSY: Final = "busy@example.org"
A_TALK: Final = 30  # messages
ASKED: Final = (
    ("chat/message", ""),
    ("chat/message", "?status__exact=failed"),
    ("chat/message", f"?q={BUSY}"),
    ("chat/message", f"?q={BUSY}&status__exact=failed"),
    ("chat/message", "?q=150000"),
    ("chat/message", "?p=200"),
    ("chat/conversation", ""),
    ("chat/conversation", f"?q={BUSY}"),
    ("memory/fact", ""),
    ("memory/fact", "?status__exact=proposed"),
    ("memory/fact", "?q=bees"),
    ("memory/fact/queue", ""),
    ("accounts/user", ""),
    ("accounts/accesslog", ""),
)
TIMES: Final = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=300_000)
    parser.add_argument("--facts", type=int, default=50_000)
    options = parser.parse_args()
    with own_database():
        fill(options.messages, options.facts)
        measure()


def fill(messages: int, facts: int) -> None:
    """The rows, made by the database itself."""
    from django.db import connection

    from accounts.models import User

    User.objects.create_superuser("staff@example.org")
    busy = User.objects.create_user(BUSY).pk
    for number in range(PEOPLE):
        User.objects.create_user(f"person{number}@example.org")
    given = {"messages": messages, "facts": facts, "talks": messages // A_TALK, "a_talk": A_TALK, "busy": busy}
    given |= {"people": PEOPLE}
    began = time.monotonic()
    with connection.cursor() as cursor:
        for statement in ROWS:
            cursor.execute(statement, given)
        cursor.execute("ANALYZE")
    print(f"{messages:,} messages, {facts:,} facts in {time.monotonic() - began:.0f} s\n")


OF_WHOM: Final = "CASE WHEN n %% 10 = 0 THEN %(busy)s ELSE %(busy)s + 1 + n %% %(people)s END"
ROWS: Final = (
    f"""
    CREATE TEMPORARY TABLE talk AS
    SELECT n, gen_random_uuid() AS id, {OF_WHOM} AS user_id FROM generate_series(0, %(talks)s) AS n
    """,
    """
    INSERT INTO chat_conversation (id, user_id, title, status, model, effort, scope, only_project, title_is_own,
        started_at, last_activity_at, next_seq, cut_from, cut_until, task, librarian_watermark, origin, external_id)
    SELECT id, user_id, 'Talk ' || n, 'ended', '', '', '', false, false, now() - n * interval '1 minute',
        now() - n * interval '1 minute', 31, 0, 0, '{}', 0, '', '' FROM talk
    """,
    """
    INSERT INTO chat_message (user_id, conversation_id, seq, turn, role, author, event_type, text, event_data, tokens,
        external_id, status, created_at)
    SELECT talk.user_id, talk.id, 1 + m.n %% %(a_talk)s, 1 + m.n %% %(a_talk)s / 2, 'user', '', 'user_message',
        repeat('What was said about bees and gardens, number ' || m.n || '. ', 8), '{}', 80, '',
        CASE WHEN m.n %% 9973 = 0 THEN 'failed' ELSE 'complete' END, now() - m.n * interval '1 second'
    FROM generate_series(0, %(messages)s - 1) AS m (n) JOIN talk ON talk.n = m.n / %(a_talk)s
    """,
    f"""
    INSERT INTO memory_fact (user_id, embedded_by, statement, kind, key, value, tags, tokens, confidence, importance,
        status, reason, recorded_at, source, quote, extracted_by, times_used)
    SELECT {OF_WHOM}, '', 'The user keeps ' || CASE WHEN n %% 50 = 0 THEN 'bees' ELSE 'chair' END || ' number ' || n,
        'fact', '', '', '{{}}', 8, .8, .5, CASE WHEN n %% 20 = 0 THEN 'proposed' ELSE 'active' END, '', now(),
        'stated', '', 'rules/1', 0 FROM generate_series(1, %(facts)s) AS n
    """,
    """
    INSERT INTO accounts_accesslog (reader_id, user_id, what, at)
    SELECT NULL, %(busy)s, 'fact ' || n, now() FROM generate_series(1, %(facts)s) AS n
    """,
)
"""Rows as the product makes them, but for vectors, which no list reads."""


def measure() -> None:
    """Open each list and print its time."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from accounts.models import User

    client = Client(SERVER_NAME="localhost")
    client.force_login(User.objects.get(email="staff@example.org"))
    client.get("/admin/")
    for page, query in ASKED:
        times, slowest = [], []
        for _ in range(TIMES):
            with CaptureQueriesContext(connection) as captured:
                began = time.perf_counter()
                response: Any = client.get(f"/admin/{page}/{query}")
                times.append(time.perf_counter() - began)
            assert response.status_code == 200, (page, query)
            slowest.append(max(float(one["time"]) for one in captured.captured_queries))
        print(
            f"{page + '/' + query:55} {1_000 * statistics.median(times):7.0f} ms"
            f" {len(captured):3} statements, the slowest {1_000 * statistics.median(slowest):5.0f} ms"
        )


if __name__ == "__main__":
    main()
