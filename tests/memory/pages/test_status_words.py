"""Each fact says exactly what its status means, and no page for people names the engine room."""

import re
from collections.abc import Callable
from datetime import date, timedelta
from html import unescape
from typing import Any, get_args

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from budget.templatetags.figures import CUT_REASONS, cut_reason
from memory.documents import revisions, uploads
from memory.documents.revisions import beginnings
from memory.facts.links import GAVE_WAY
from memory.librarian.remember import REASON
from memory.models import Document, Episode, Fact, Revision, Upload
from memory.models.documents import STARTERS
from memory.pages.knowledge import upload_sentence
from memory.pages.labels import STATUS_MEANS
from memory.pages.search import RULES
from memory.pages.why import ALWAYS, NO_ROOM, OPENING, RULE_WORDS
from memory.retrieval.ranking import Rule
from memory.retrieval.truth import TruthRule
from memory.templatetags.memory_words import key_words
from tests.budget.rows import answer_of

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]
ENGINE_ROOM = re.compile(
    r"\b(user/\w+|rules/\d+|vectors?|embedd\w+|near-duplicate|beyond top-K|below the floor|index(?:ed|ing)?"
    r"|tokens?|passages?|queue[ds]?|prompts?|budget|superseded"
    r"|contested|retracted|answered from memories|librarian)\b|\^(?:fact|said)-",
    re.I,
)


def shown_on(page: str) -> str:
    """What a person reads of it: without tags, scripts and attributes."""
    main = page.partition('<main id="main"')[2].partition("</main>")[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main))


@pytest.mark.parametrize("status", [status for status in Fact.Status if status in STATUS_MEANS])
def test_a_fact_that_is_not_in_use_says_what_that_means(alice: User, sign_in: SignIn, status: Fact.Status) -> None:
    fact = Fact.objects.create(
        user=alice, statement="The user sings.", status=status, key="user/hobby", value="singing"
    )
    page = sign_in(alice).get(f"/memory/facts/{fact.pk}").content.decode()
    assert STATUS_MEANS[status] in page.replace("&#x27;", "'")
    assert "Recall sends it" not in page
    assert ("<dt>Proposed</dt>" in page) is (status == Fact.Status.PROPOSED)
    assert not ENGINE_ROOM.findall(shown_on(page))


def test_a_proposal_says_whether_answers_may_still_recall_its_message(alice: User, sign_in: SignIn) -> None:
    message, client = answer_of(alice).parent, sign_in(alice)
    assert message is not None
    rests_on_it = Fact.objects.create(user=alice, statement="The user sings.", status="proposed", message=message)
    imported = Fact.objects.create(user=alice, statement="The user dances.", status="proposed", source="imported")

    def page(fact: Fact) -> str:
        return shown_on(client.get(f"/memory/facts/{fact.pk}").content.decode())

    assert "answers may recall your message" in page(rests_on_it)
    assert "your message" not in page(imported)
    assert "Until then answers don't use it as a fact." in unescape(page(imported))
    about = shown_on(client.get("/memory/about?show=proposed").content.decode())
    assert about.count("answers may recall your message") == 1

    message.delete()
    assert "your message" not in page(rests_on_it)


@pytest.mark.parametrize(
    "address",
    [
        "about", "about?show=past", "review", "timeline", "history", "rules", "time-travel?at=2026-01-01", "documents",
        "documents/profile", "documents/profile/identity", "documents/uploads", "documents/uploads/plan",
        "documents/uploads/empty",
    ],
)  # fmt: skip
def test_pages_for_people_have_no_engine_room_words(alice: User, sign_in: SignIn, address: str) -> None:
    for status in ("active", "proposed", "superseded"):
        fact = Fact.objects.create(
            user=alice, statement="The user works as a nurse.", status=status, value="nurse",
            key=f"user/job{status}", extracted_by="rules/6",
            reason=GAVE_WAY if status == "superseded" else "about your work",
        )  # fmt: skip
    line = f"I sing.\n- Works as a nurse. ^fact-{fact.pk}"
    revisions.save(alice, "/profile/identity", line, "librarian", started_from=0)
    revisions.save(alice, "/uploads/plan", "Tulips.", started_from=0)
    revisions.save(alice, "/uploads/empty", "", started_from=0)
    uploads.accept(alice, "waiting.md", b"# Roses")
    done = Upload(user=alice, name="done.md", state="done", document=Document.objects.get(path="/uploads/plan"), size=7)
    Upload.objects.bulk_create([done])
    page = shown_on(sign_in(alice).get(f"/memory/{address}").content.decode())
    assert page
    assert not ENGINE_ROOM.findall(page)


def test_an_upload_says_how_far_it_is_without_engine_room_words(alice: User) -> None:
    document = revisions.save(alice, "/uploads/plan", "Tulips.", started_from=0)
    upload: Any = Upload(user=alice, name="plan.md", state="done", document=document, size=7)
    for state, total, embedded in (("waiting", 0, 0), ("reading", 0, 0), ("done", 7, 3), ("done", 7, 7)):
        upload.state, upload.total, upload.embedded = state, total, embedded
        assert not ENGINE_ROOM.findall(upload_sentence(upload))


def test_why_a_memory_was_used_or_left_out_is_said_without_engine_room_words() -> None:
    left_out = map(cut_reason, [*get_args(TruthRule), *get_args(Rule)])
    said = [*CUT_REASONS.values(), *left_out, *RULE_WORDS.values(), *RULES.values(), *OPENING.values(), NO_ROOM, ALWAYS]
    assert not ENGINE_ROOM.findall("\n".join(said))


@pytest.mark.parametrize("address", ["about", "documents/profile/identity", "versions", "time-travel", "conflict"])
def test_a_learned_line_is_said_to_its_user_and_their_own_stays(alice: User, sign_in: SignIn, address: str) -> None:
    fact = Fact.objects.create(user=alice, statement="Mary is the user's name.", status="active")
    own, learned = "I said: the user is king.", f"- Mary is the user's name. ^fact-{fact.pk}"
    revisions.save(alice, "/profile/identity", own, started_from=0)
    document = revisions.save(alice, "/profile/identity", f"{own}\n{learned}", "librarian", started_from=1)
    revisions.save(alice, "/profile/identity", f"{own} Yes.\n{learned}", started_from=2)
    Revision.objects.filter(number__lt=3).update(created_at=timezone.now() - timedelta(days=2))
    client, fields = sign_in(alice), {"text": f"{own} Or so.\n- Mary is the user's name.", "started_from": 2}
    if address == "conflict":
        response = client.post(f"/memory/save/{document.pk}", fields)
    else:
        path = {"versions": f"versions/{document.pk}", "time-travel": f"time-travel?at={days_ago(1)}"}
        response = client.get(f"/memory/{path.get(address, address)}")
    page = re.sub(r"(?s)<textarea.*?</textarea>", "", unescape(response.content.decode()))
    assert "Mary is your name." in shown_on(page)
    assert "Mary is the user's name" not in page
    assert own.removesuffix(".") in shown_on(page)


def days_ago(number: int) -> date:
    return (timezone.now() - timedelta(days=number)).date()


def test_an_episode_is_said_to_its_user_but_their_quoted_words_stay(alice: User, sign_in: SignIn) -> None:
    Episode.objects.create(
        user=alice, title="The **shop**", context="Before, the user wrote: “When does the user *pay*?”",
        summary="The user opened a **shop**. The user wrote: “Now the user pays by card.”",
    )  # fmt: skip
    page = shown_on(sign_in(alice).get("/memory/timeline").content.decode())
    assert "You opened a shop. You wrote: “Now the user pays by card.”" in page
    assert "Before, you wrote: “When does the user pay?”" in page
    assert "The shop" in page


def test_rules_and_reasons_are_said_to_the_user(alice: User, sign_in: SignIn) -> None:
    Fact.objects.create(user=alice, statement="The user sings.", status="proposed", reason=REASON)
    client = sign_in(alice)
    assert "Asks you before saving." in shown_on(client.get("/memory/rules").content.decode())
    for address in ("/memory/review", "/memory/about?show=proposed"):
        page = shown_on(client.get(address).content.decode())
        assert "Recall was asked to remember it" in page.replace("recall was", "Recall was")
        assert "assistant" not in page


def test_a_fact_page_names_its_key_in_words(alice: User, sign_in: SignIn) -> None:
    fact = Fact.objects.create(
        user=alice, statement="The user works as a nurse.", status="active", key="user/job", value="nurse",
        extracted_by="rules/6",
    )  # fmt: skip
    page = sign_in(alice).get(f"/memory/facts/{fact.pk}").content.decode()
    assert "<dt>Your job</dt>" in page
    assert not ENGINE_ROOM.findall(shown_on(page))
    assert (key_words("mary/home"), key_words("user/dog/name")) == ("Mary's home", "Your dog's name")
    assert key_words("user/taste:rye_bread") == "Your taste: rye bread"


def test_a_new_account_has_as_many_documents_everywhere(alice: User, sign_in: SignIn) -> None:
    client = sign_in(alice)
    client.get("/memory/about")  # which makes the starter documents, empty
    assert {document.path for document in beginnings(alice)} == set(STARTERS)
    assert (
        '<h2 data-path="/" data-folder>Documents <span class="badge">0</span></h2>'
        in client.get("/memory/documents").content.decode()
    )
    assert "Nothing to search yet." in client.get("/search").content.decode()
    assert "document" not in shown_on(client.get("/settings/data").content.decode()).partition("Right now:")[2][:40]
    assert client.get("/api/v1/memory/documents").json()["items"] == []

    revisions.save(alice, "/profile/identity", "I am Alice.", started_from=0)
    assert '<span class="badge">1</span></h2>' in client.get("/memory/documents").content.decode()
    assert "Nothing to search yet." not in client.get("/search").content.decode()
    assert '<span class="number">1</span> document' in client.get("/settings/data").content.decode()
