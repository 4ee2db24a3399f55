"""The search over everything: what is found, why, where it stands, what was left out; narrowed down, in the past."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from chat.models import Conversation, Message, Project
from memory.documents import revisions, tree
from memory.documents.revisions import Origin
from memory.index.indexer import embed_pending, index_conversation
from memory.models import Document, Episode, Fact, Revision
from memory.pages.search import (
    EXCERPT_LENGTH,
    ICONS,
    PARTS,
    RULES,
    SOURCES,
    excerpt,
    explain_score,
    mark_matches,
    match_pattern,
    min_importance,
    stem,
)
from memory.ports.source import Utterance, get_source
from memory.retrieval.ranking import MEASURED, Part, Rule, Source
from memory.retrieval.truth import TruthRule

type SignIn = Callable[[User], Client]

HTMX = {"HX-Request": "true"}
ATTACK = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
QUESTION = "Where does my sister Mary live?"


def say(user: User, *texts: str, at: datetime | None = None) -> list[int]:
    """Keep a conversation of the user's own words, findable."""
    at = at or timezone.now() - timedelta(days=3)
    said = [Utterance(0, n, "user", text, at + timedelta(minutes=n), turn=n) for n, text in enumerate(texts, start=1)]
    ids = get_source().import_conversation(user, "A talk", said)
    index_conversation(Message.objects.get(pk=ids[0]).conversation_id)
    return ids


def know(user: User, statement: str, **fields: Any) -> Fact:
    made: Fact = Fact.objects.create(user=user, statement=statement, **{"status": Fact.Status.ACTIVE, **fields})
    return made


def results_of(client: Client, where: str = "", status: int = 200, **query: Any) -> str:
    response = client.get("/search", {"q": QUESTION, "in": where, **query}, headers=HTMX)
    assert response.status_code == status
    page: str = response.content.decode()
    assert "<html" not in page
    return re.sub(r"</?mark[^>]*>", "", page)


# What is found ---------------------------------------------------------------------------------------------------


def test_everything_is_searched_and_says_where_it_stands(alice: User, sign_in: SignIn) -> None:
    (message,) = say(alice, "My sister Mary lives in Lisbon, by the river.")
    fact = know(alice, "The user's sister Mary lives in Lisbon.", kind="person")
    episode = Episode.objects.create(user=alice, title="Mary moves", summary="The user's sister Mary moved to Lisbon.")
    add = revisions.add(alice, "/people/Mary", "Mary, my sister, lives in Rua Augusta.", "user", Origin())
    embed_pending()

    client = sign_in(alice)
    page = results_of(client)

    assert f'href="/m/{message}"' in results_of(client, "conversations")
    for link in (
        f'href="/memory/facts/{fact.pk}"',
        f'href="/memory/timeline#episode-{episode.pk}"',
        f'href="/memory/documents/people/Mary#passage-{add.chunks.get().number}"',
    ):
        assert link in page
    for label in ("Fact", "Episode", "Document"):
        assert f"</svg>{label}</span>" in page


def test_the_words_of_the_question_are_marked(alice: User, sign_in: SignIn) -> None:
    know(alice, "The user's sister Mary lives in Lisbon.")

    page = sign_in(alice).get("/search", {"q": "Where does my sister live?"}).content.decode()

    assert '<mark class="mark">sister</mark> Mary <mark class="mark">lives</mark> in Lisbon.' in page


def test_a_documents_links_are_told_by_their_words(alice: User, sign_in: SignIn) -> None:
    revisions.add(alice, "/people/Mary", "Mary, my sister, lives in [Rua Augusta](/c/1f).", "user", Origin())
    embed_pending()

    page = results_of(sign_in(alice))

    assert "in Rua Augusta." in page
    assert "(/c/1f)" not in page


def test_a_conversations_document_leads_to_it_and_speaks_to_the_user(alice: User, sign_in: SignIn) -> None:
    text = "2 turns. [Open the conversation](/c/1f)\n\nThe user wrote: “My sister Mary lives in Lisbon.”"
    revisions.add(alice, "/conversations/mary", text, "user", Origin())
    embed_pending()
    client = sign_in(alice)

    page = client.get("/memory/documents/conversations/mary").content.decode()
    read = page[page.index("data-read") : page.index("</div>", page.index("data-read"))]

    assert 'href="/c/1f"' in page
    assert "[Open" not in read
    for shown in (read, results_of(client)):
        assert "You wrote: “My sister" in shown


def test_a_document_is_found_by_its_title_and_without_the_topics_of_its_digest(alice: User, sign_in: SignIn) -> None:
    digest = "The user wrote: “My sister Mary lives in Lisbon.”\n\nTopics: sister, Lisbon"
    revisions.add(alice, "/conversations/mary", digest, "librarian", Origin(Document.Source.LIBRARIAN))
    revisions.add(alice, "/people/list", "Topics: where my sister Mary lives", "user", Origin())
    embed_pending()

    page = results_of(sign_in(alice), "documents")

    assert re.search(r'<h3><a href="/memory/documents/conversations/mary#passage-\d+">[Mm]ary</a></h3>', page)
    assert "/conversations/mary</span>" not in page
    assert [page.count(f"</svg>{label}</span>") for label in ("Conversation summary", "Document")] == [1, 1]
    assert "Topics: sister" not in re.sub("<[^>]+>", "", page)
    assert "Topics: where" in re.sub("<[^>]+>", "", page), "the user's own line"


@pytest.mark.parametrize(("query", "is_offered"), [("Mary", True), (QUESTION, False), ("where does Mary live", False)])
def test_forgetting_is_offered_last_and_not_for_a_question(
    alice: User, sign_in: SignIn, query: str, is_offered: bool
) -> None:
    know(alice, "The user's sister Mary lives in Lisbon.")
    embed_pending()

    page = results_of(sign_in(alice), q=query)

    assert ("Forget everything about" in page) is is_offered
    assert page.find("Forget everything about") < 0 or page.index("Lisbon") < page.index("Forget everything about")


def test_a_place_has_no_heading_that_repeats_its_tab(alice: User, sign_in: SignIn) -> None:
    know(alice, "The user's sister Mary lives in Lisbon.")
    embed_pending()
    client = sign_in(alice)

    assert ">Facts</h2>" in results_of(client)
    assert 'class="visually-hidden">Facts</h2>' in results_of(client, "facts")


def test_what_is_in_every_prompt_anyway_is_found_here(alice: User, sign_in: SignIn) -> None:
    know(alice, "The user's sister is Mary.", kind="person", key="user/sister", importance=0.9)

    assert "sister is Mary." in results_of(sign_in(alice))


def test_each_result_says_why_it_came(alice: User, sign_in: SignIn) -> None:
    know(alice, "The user's sister Mary lives in Lisbon.")
    embed_pending()

    page = results_of(sign_in(alice))

    assert "Why this?" in page
    assert PARTS["semantic"] in page
    assert page.index(PARTS["keyword"]) < page.index("not used for ranking") < page.index(PARTS["recency"])


def test_what_was_left_out_names_its_rule(alice: User, sign_in: SignIn) -> None:
    know(alice, "The user's sister Mary lives in Lisbon.")
    know(alice, "The user's sister Mary lives in Lisbon .")
    embed_pending()

    page = results_of(sign_in(alice), "facts")

    assert "Weaker results: 1" in page
    assert RULES["near-duplicate"] in page


def test_what_is_not_relevant_is_shown_on_request_only(alice: User, sign_in: SignIn) -> None:
    know(alice, "The user's sister Mary lives in Lisbon.")
    embed_pending()
    client = sign_in(alice)

    everywhere, facts = (results_of(client, where, q="zzz") for where in ("", "facts"))

    assert "No results" in everywhere
    assert "No results" in facts
    assert "Lisbon" not in everywhere
    assert '<details class="left-out">' in facts, "closed"


def test_a_question_whose_words_no_conversation_has_finds_what_was_said(
    alice: User, bob: User, sign_in: SignIn
) -> None:
    say(alice, "My sister Mary lives in Lisbon, by the river.")
    say(bob, "My sister Mary lives in Cork.")
    embed_pending()

    page = results_of(sign_in(alice))

    assert "by the river" in page
    assert ">Conversations</h2>" in page
    assert "Cork" not in page


@pytest.mark.parametrize("where", ["", "facts"])
def test_what_is_only_near_in_meaning_comes_after_what_has_the_words(alice: User, sign_in: SignIn, where: str) -> None:
    know(alice, "The user's sister Mary lives in Lisbon.")
    know(alice, "The user lives in Porto.")
    embed_pending()

    page = results_of(sign_in(alice), where, q="Lisbon")

    assert page.index("Mary lives in Lisbon.") < page.index("Similar in meaning: 1") < page.index("You live in Porto.")


def test_every_part_rule_and_source_has_plain_words() -> None:
    assert set(PARTS) == set(get_args(Part))
    assert set(RULES) == {*get_args(Rule), *get_args(TruthRule)}
    assert set(SOURCES) == set(ICONS) == set(get_args(Source))


def test_a_search_has_an_address_and_works_without_script(alice: User, sign_in: SignIn) -> None:
    know(alice, "The user's sister Mary lives in Lisbon.", kind="place")
    embed_pending()

    page = sign_in(alice).get("/search", {"q": QUESTION, "in": "facts", "kind": "place"}).content.decode()

    assert "<html" in page
    assert f'value="{QUESTION}"' in page
    assert 'value="place" checked' in page
    assert page.count('class="card result"') == 1


def test_hostile_words_are_shown_as_words(alice: User, sign_in: SignIn) -> None:
    know(alice, f"Mary said {ATTACK}")
    revisions.add(alice, f"/x/{ATTACK.replace('/', '-')}", f"Mary {ATTACK}", "user", Origin())

    page = sign_in(alice).get("/search", {"q": f"Mary {ATTACK}"}).content.decode()

    assert "<script>alert" not in page
    assert "<img src" not in page
    assert "&lt;" in page


# What is not found -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "sentence"),
    [("Good morning!", "Greetings don't bring up memories"), (QUESTION, "Try fewer or other words")],
)
def test_nothing_found_is_explained(alice: User, sign_in: SignIn, question: str, sentence: str) -> None:
    Conversation.objects.create(user=alice)
    page = results_of(sign_in(alice), q=question)

    assert sentence in page
    assert 'class="card result"' not in page


@pytest.mark.parametrize("question", ["", QUESTION])
def test_a_new_account_is_shown_what_to_do_instead_of_zeros(alice: User, sign_in: SignIn, question: str) -> None:
    page = results_of(sign_in(alice), q=question, since="2026-11-24")

    assert "Nothing to search yet." in page
    assert "From 24 November 2026." not in page, "no results that it could be said of"
    assert not re.search(r"\b0\b", page)


@pytest.mark.parametrize(
    "query",
    [
        {"in": "facts", "kind": "nonsense"},
        {"in": "documents", "folder": "/a//b"},
        {"since": "some day"},
        {"in": "facts", "as_of": "31.2.2026"},
        {"q": "x" * 301},
        {"q": "NUL \x00"},
    ],
    ids=lambda query: [*query][-1],
)
@pytest.mark.parametrize("headers", [{}, HTMX], ids=["plain", "htmx"])
def test_a_search_that_cannot_be_is_one_sentence(
    alice: User, sign_in: SignIn, query: dict[str, str], headers: dict[str, str]
) -> None:
    response = sign_in(alice).get("/search", {"q": QUESTION, **query}, headers=headers)

    assert response.status_code == 422
    assert response.content.decode().count('class="errorlist">') == 1


# Narrowed down ---------------------------------------------------------------------------------------------------


@pytest.fixture
def marys(alice: User) -> None:
    """Mary in four places."""
    say(alice, "Mary said on a walk that she lives in Porto.", at=datetime(2026, 3, 4, 12, tzinfo=UTC))
    know(alice, "The fact is that Mary lives in Lisbon.", kind="place", tags=["family"], importance=0.7)
    Episode.objects.create(user=alice, title="Mary", summary="The episode of Mary who lives abroad.", kind="pivot")
    document = revisions.add(alice, "/people/mary", "The document of Mary who lives by the sea.", "user", Origin())
    tree.set_tags(document, ["letters"])
    embed_pending()


@pytest.mark.parametrize(
    ("where", "query", "found"),
    [
        ("", {}, {"walk", "fact", "episode", "document"}),
        ("facts", {}, {"fact", "episode"}),
        ("documents", {}, {"document"}),
        ("conversations", {}, {"walk"}),
        ("facts", {"kind": "pivot"}, {"episode"}),
        ("facts", {"kind": "place"}, {"fact"}),
        ("documents", {"folder": "people"}, {"document"}),
        ("documents", {"folder": "/elsewhere"}, set()),
        ("facts", {"tag": "family, letters"}, {"fact"}),
        ("documents", {"tag": "#Letters"}, {"document"}),
        ("conversations", {"until": "2026-03-04"}, {"walk"}),
        ("conversations", {"until": "2026-03-03"}, set()),
        ("conversations", {"since": "2026-03-04", "until": "2026-03-04"}, {"walk"}),
        ("conversations", {"since": "4. 3. 2026", "until": "4 Mar 2026"}, {"walk"}),
        ("conversations", {"until": "Feb 2026"}, set()),
        ("", {"since": "2026-03-05"}, {"fact", "episode", "document"}),
        ("", {"until": "2026-03-04"}, {"walk"}),
        ("facts", {"least": "3"}, {"fact", "episode"}),
        ("facts", {"least": "4"}, {"fact"}),
        ("documents", {"scope": "/people"}, {"document"}),
        ("documents", {"scope": "/projects/elsewhere"}, set()),
        ("documents", {"kind": "place"}, {"document"}),  # a filter that the place doesn't have
    ],
)
def test_a_search_is_narrowed_down(
    alice: User, sign_in: SignIn, marys: None, where: str, query: dict[str, Any], found: set[str]
) -> None:
    page = results_of(sign_in(alice), where, q="Where lives Mary?", **query)

    words = {"fact": "The fact is", "episode": "The episode of", "document": "The document of", "walk": "on a walk"}
    assert {name for name, text in words.items() if text in page} == found


def test_another_place_keeps_the_words_and_the_filters_it_has(alice: User, sign_in: SignIn) -> None:
    page = results_of(sign_in(alice), "facts", q="Mary & co", since="2026-03-05", kind="place")

    assert 'href="/search?q=Mary+%26+co&amp;since=2026-03-05&amp;in=documents"' in page
    assert 'href="/search?q=Mary+%26+co&amp;since=2026-03-05"' in page
    assert re.search(r'in=facts" aria-current="page">Facts</a>', page)


def test_all_shows_the_first_of_each_and_leads_to_the_rest(alice: User, sign_in: SignIn) -> None:
    for number in range(6):
        know(alice, f"Mary lives in town number {number}.")
    embed_pending()
    client = sign_in(alice)

    page = results_of(client)

    assert page.count('class="card result"') == 4
    assert "All facts</a>" in page
    assert results_of(client, "facts").count('class="card result"') == 6


def test_a_search_stays_within_a_project(alice: User, sign_in: SignIn, marys: None) -> None:
    Project.objects.create(user=alice, name="Porto", path="/projects/porto")
    revisions.add(alice, "/projects/porto/mary", "Mary lives by the river.", "user", Origin())
    embed_pending()

    query = {"q": "Where lives Mary?", "in": "documents", "scope": "/projects/porto"}
    page = sign_in(alice).get("/search", query).content.decode()

    assert '<option value="/projects/porto" selected>Porto</option>' in page
    assert "by the river" in page
    assert "by the sea" not in page


@pytest.mark.parametrize("importance", [n / 20 for n in range(21)])
def test_the_least_importance_is_that_which_a_fact_shows(importance: float) -> None:
    shown = Fact(importance=importance).importance_level
    assert all((importance >= min_importance(level)) == (shown >= level) for level in range(2, 6))


def test_time_travel_finds_what_was_known_then(alice: User, sign_in: SignIn) -> None:
    long_ago = datetime(2026, 1, 10, 12, tzinfo=UTC)
    know(
        alice,
        "The user's sister Mary lives in Porto.",
        status="superseded",
        recorded_at=long_ago,
        superseded_at=long_ago + timedelta(days=30),
    )
    know(alice, "The user's sister Mary lives in Lisbon.", recorded_at=long_ago + timedelta(days=30))
    client = sign_in(alice)

    then, now = results_of(client, "facts", as_of="2026-01-10"), results_of(client)

    assert "lives in Porto" in then
    assert "lives in Lisbon" not in then
    assert "As known on 10 January 2026" in then
    assert '<span class="badge badge-warn">Replaced</span>' in then
    assert "lives in Lisbon" in now
    assert "lives in Porto" not in now


def test_days_are_text_and_shown_as_they_were_read(alice: User, sign_in: SignIn, marys: None) -> None:
    days = {"since": "Jan 2026", "until": "March 5th 2026", "as_of": "2026-07-01"}
    for where in ("", "facts"):
        page = sign_in(alice).get("/search", {"q": QUESTION, "in": where, **days}).content.decode()
        assert "From 1 January 2026. Up to 5 March 2026." in page
        assert 'name="since" value="Jan 2026"' in page
        assert 'type="date"' not in page


def test_a_day_ends_where_the_user_is(alice: User, sign_in: SignIn) -> None:
    alice.time_zone = "Pacific/Auckland"
    alice.save()
    say(alice, "Mary lives in Faro.", at=datetime(2026, 3, 4, 20, tzinfo=UTC))  # the 5th in Auckland
    client = sign_in(alice)

    assert "in Faro" not in results_of(client, "conversations", until="2026-03-04")
    assert "in Faro" in results_of(client, "conversations", since="2026-03-05", until="2026-03-05")


# Its cost, and whose it is ---------------------------------------------------------------------------------------


def test_many_results_take_as_many_queries_as_one(
    alice: User, sign_in: SignIn, django_assert_max_num_queries: Any
) -> None:
    for number in range(12):
        say(alice, f"Mary lived in house number {number}, with a garden of {number} trees.")
        know(alice, f"Mary lives in town number {number}.")
        revisions.add(alice, f"/people/{number}", f"Mary lives at number {number}.", Revision.Author.USER, Origin())
    embed_pending()
    client = sign_in(alice)
    results_of(client)  # the first request of a session is noted, the first search looks which models there are

    with django_assert_max_num_queries(16):
        page = results_of(client)
    assert page.count('class="card result"') == 9

    with django_assert_max_num_queries(12):
        page = results_of(client, "facts")
    assert page.count('class="card result"') == 12


def test_bob_finds_nothing_of_alices(alice: User, bob: User, sign_in: SignIn) -> None:
    say(alice, "My sister Mary lives in Lisbon.")
    know(alice, "The user's sister Mary lives in Lisbon.", tags=["sisterly"])
    revisions.add(alice, "/people/Mary", "My sister Mary lives in Lisbon.", "user", Origin())

    assert "Nothing to search yet." in results_of(sign_in(bob))
    assert "Lisbon" not in results_of(sign_in(bob))
    assert "sisterly" not in sign_in(bob).get("/search?in=facts").content.decode()


def test_a_facts_page_leads_to_its_place_among_the_others(alice: User, sign_in: SignIn) -> None:
    Fact.objects.bulk_create(
        Fact(user=alice, statement=f"Fact {n}.", status="active", importance=0.9) for n in range(100)
    )
    last, past = know(alice, "The last.", importance=0.1), know(alice, "Gone.", status="expired")
    client = sign_in(alice)

    for fact, place in ((last, "show=active&amp;page=2"), (past, "show=past&amp;page=1")):
        address = f"/memory/about?{place}#fact-{fact.pk}"
        assert f'href="{address}"' in client.get(f"/memory/facts/{fact.pk}").content.decode()
        assert f'id="fact-{fact.pk}"' in client.get(address.replace("&amp;", "&")).content.decode()


# The words, pure -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        (
            "Where does Mary live?",
            "Mary lives, Mary lived, Mary is living.",
            ["Mary", "lives", "Mary", "lived", "Mary", "living"],
        ),
        ("my cities", "A city of cities", ["city", "cities"]),
        ("What is it?", "It is what it is.", []),
        ("C++ (2026)", "c++ in 2026", ["c", "2026"]),
    ],
)
def test_words_are_found_in_their_usual_forms(question: str, text: str, found: list[str]) -> None:
    assert [piece.text for piece in mark_matches(text, match_pattern(question)) if piece.is_asked] == found


@pytest.mark.parametrize(("word", "begin"), [("lives", "liv"), ("running", "runn"), ("bed", "bed"), ("is", "is")])
def test_a_stem_is_never_shorter_than_three_letters(word: str, begin: str) -> None:
    assert stem(word) == begin


@given(st.text(max_size=600), st.text(max_size=80))
def test_the_pieces_are_the_whole_text(text: str, question: str) -> None:
    assert "".join(piece.text for piece in mark_matches(text, match_pattern(question))) == text


def test_of_a_long_text_the_fullest_stretch_is_shown() -> None:
    text = f"{'filler ' * 200}Mary was here. {'filler ' * 200}Mary lives by the sea, and Mary sings. {'filler ' * 200}"

    shown = excerpt(text, match_pattern("Mary"))

    assert "Mary lives by the sea, and Mary sings." in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) <= EXCERPT_LENGTH + 4


@pytest.mark.parametrize("shift", range(8))
def test_an_excerpt_starts_and_ends_with_whole_words(shift: int) -> None:
    text = f"{'x' * shift} {'filler ' * 200}Mary lives by the sea. {'filler ' * 200}"
    whole = set(text.split())
    assert set(excerpt(text, match_pattern("Mary")).strip(" …").split()) <= whole


@given(st.text(max_size=2_000), st.text(max_size=30))
def test_an_excerpt_is_never_longer_than_told(text: str, question: str) -> None:
    assert len(excerpt(text, match_pattern(question))) <= EXCERPT_LENGTH + 4


def test_what_weighs_nothing_is_told_apart_from_what_made_the_score() -> None:
    counted, uncounted = explain_score({"semantic": 0.5, "keyword": 0.9, "recency": 1.0, "name_match": 0.0})

    assert [reason.name for reason in counted] == ["keyword", "semantic"]
    assert [reason.name for reason in uncounted] == ["recency"]


@given(st.dictionaries(st.sampled_from(sorted(MEASURED.weights)), st.floats(1e-6, 1), min_size=1))
def test_the_shares_of_a_score_are_whole_percentages_that_add_up(parts: dict[Part, float]) -> None:
    counted, _ = explain_score(parts)

    assert sum(reason.percent for reason in counted) == 100
    assert all(reason.percent > 0 for reason in counted)
    assert [reason.percent for reason in counted] == sorted((one.percent for one in counted), reverse=True)
