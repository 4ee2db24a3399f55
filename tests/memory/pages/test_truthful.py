"""“Saved” is said once it is committed, and not before: where the commit fails, no page says so."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from accounts.models import User
from memory.models import Fact, ReviewAction
from memory.pages.review import DONE
from recall.db.acting import by
from tests.memory.pages.test_review import HTMX, propose

type SignIn = Callable[[User], Client]

FAIL_AT_COMMIT = """
CREATE FUNCTION never_commit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the disk is full'; END $$;
CREATE CONSTRAINT TRIGGER never_commit AFTER INSERT ON memory_reviewaction
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION never_commit();
CREATE CONSTRAINT TRIGGER never_commit AFTER INSERT ON memory_kindpolicy
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION never_commit();
"""
HEAL = """
DROP TRIGGER never_commit ON memory_reviewaction; DROP TRIGGER never_commit ON memory_kindpolicy;
DROP FUNCTION never_commit;
"""


@pytest.fixture
def failing_commits(transactional_db: None) -> Iterator[None]:
    """Every statement succeeds, and then the commit does not."""
    with by("migrations"), connection.cursor() as cursor:
        cursor.execute(FAIL_AT_COMMIT)
    yield
    with by("migrations"), connection.cursor() as cursor:
        cursor.execute(HEAL)


DEEDS: dict[str, tuple[str, dict[str, Any]]] = {
    "accept": ("/memory/review/{0}/accept", {}),
    "edit": ("/memory/review/{0}/edit", {"statement": "In my words."}),
    "reject": ("/memory/review/{0}/reject", {}),
    "together": ("/memory/review/together", {"verb": "accept"}),
    "merge": ("/memory/review/merge", {}),
    "policies": ("/memory/rules", {"rule-place": "never"}),
    "rule": ("/memory/review/{0}/rule", {"rule": "never"}),
}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("deed", DEEDS)
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_where_the_commit_fails_nothing_says_that_it_is_done(
    alice: User, sign_in: SignIn, failing_commits: None, deed: str, headers: dict[str, str]
) -> None:
    facts = [propose(alice, "One thing."), propose(alice, "Another thing.")]
    client = sign_in(alice)
    client.raise_request_exception = False
    address, fields = DEEDS[deed]

    response = client.post(
        address.format(facts[0].pk), {**fields, "fact": [fact.pk for fact in facts]}, headers=headers, follow=True
    )

    assert response.status_code == 500
    said = response.content.decode() + client.get("/memory/review").content.decode()
    assert not any(f"{word}:" in said for word in DONE.values())
    assert "Saved." not in said
    assert set(Fact.objects.values_list("status", flat=True)) == {"proposed"}
    assert not ReviewAction.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_what_is_said_to_be_done_is_seen_by_another_connection(
    transactional_db: None, alice: User, sign_in: SignIn
) -> None:
    fact = propose(alice)

    page = sign_in(alice).post(f"/memory/review/{fact.pk}/accept", headers=HTMX).content.decode()

    assert "Accepted: " in page
    other = connection.copy()
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT status FROM memory_fact WHERE id = %s", [fact.pk])
            assert cursor.fetchone() == ("active",)
    finally:
        other.close()
