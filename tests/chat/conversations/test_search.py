"""Messages are found by their words: in any conversation, on any branch, each text once, and safely highlighted."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.conversations import search as conversation_search
from chat.conversations.search import Filter, FoundConversation, freshness, search
from chat.conversations.search_query import SearchQuery, highlight, parse_query, snippet
from chat.models import Conversation, Message
from tests.chat.pages.test_pages import say

SignIn = Callable[[Any], Client]
ALL = Filter()


def talk(user: Any, *texts: str, title: str = "Talk", days_ago: float = 0) -> Conversation:
    """A conversation with these questions and answers alternating."""
    at = timezone.now() - timedelta(days=days_ago)
    made = Conversation.objects.create(user=user, title=title, last_activity_at=at, started_at=at)
    for text in texts:
        say(made, text, created_at=at)
    return made


def found(user: Any, typed: str, only: Filter = ALL) -> list[FoundConversation]:
    """The first page of results."""
    return search(user, typed, only, timezone.now()).found


def texts(one: FoundConversation) -> list[str]:
    """The text shown for each hit, without highlighting."""
    return [re.sub(r"</?mark>", "", hit.snippet) for hit in one.hits]


# What one types --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "words", "beginning", "terms"),
    [
        ("garden", "", "garden", ("garden",)),
        ("garden ", "garden", "", ("garden",)),
        ("red ros", "red", "ros", ("red", "ros")),
        ('"red roses"', '"red roses"', "", ("red roses",)),
        ('"red ros', '"red ros', "", ("red", "ros")),
        ('"red roses" wat', '"red roses"', "wat", ("red roses", "wat")),
        ("roses -tul", "roses -tul", "", ("roses",)),
        ("roses or tul", "roses", "tul", ("roses", "tul")),
        ("", "", "", ()),
    ],
)
def test_a_search_is_taken_apart(typed: str, words: str, beginning: str, terms: tuple[str, ...]) -> None:
    one = parse_query(typed)
    assert (one.words, one.beginning, set(one.terms)) == (words, beginning, set(terms))


@pytest.mark.parametrize(
    ("typed", "is_found"),
    [
        ("roses", True),
        ("ros", True),  # the last word may be unfinished
        ("ROSES", True),
        ("ros ", False),  # it is finished
        ("plant roses", True),
        ("roses plant", True),
        ('"planted roses"', True),
        ('"roses planted"', False),
        ("roses -tulips", True),
        ("roses -planted", False),
        ("tulips or ros", True),
        ("tulips or roses ", True),
        ("tulips ros", False),
    ],
)
def test_words_phrases_choices_and_what_must_not_stand_there(alice: Any, typed: str, is_found: bool) -> None:
    talk(alice, "We planted roses along the wall. A plant too.")
    assert bool(found(alice, typed)) is is_found


@pytest.mark.parametrize(
    "typed",
    ["'", "\\", "a:*", "a & | !", "((", "''':*", "%", "\x00", "-", '"', "or", "x" * 5_000, "!!! ???", "日本", "<b>"],
)
def test_whatever_one_types_is_no_error(alice: Any, typed: str) -> None:
    talk(alice, "We planted roses.")
    assert found(alice, typed) == []


def test_what_looks_like_an_operator_is_looked_for_as_it_is(alice: Any) -> None:
    talk(alice, "It's O'Neill's café, path C:\\temp\\new.")
    assert all(found(alice, typed) for typed in ("O'Nei", "café", "C:\\temp", "it's o'neill's"))


# What is found ---------------------------------------------------------------------------------------------------


def test_questions_answers_and_titles_are_found(alice: Any) -> None:
    asked_for = talk(alice, "Tell me about badgers", "They dig.")
    told = talk(alice, "What digs?", "A badger does; badgers live in setts.")
    named = talk(alice, "Hello", "Hello.", title="Badgers at night")
    talk(alice, "Otters?", "They swim.")
    assert {one.conversation for one in found(alice, "badgers")} == {asked_for, told, named}


def test_what_only_a_tool_brought_or_nobody_typed_is_not_found(alice: Any) -> None:
    conversation = talk(alice, "Hello", "Hello.")
    Message.objects.create(
        user=alice, conversation=conversation, seq=9, turn=1, role="tool", event_type="tool_result", text="A badger."
    )
    say(conversation, "Please badger on.", event_data={"continues": 1})
    assert found(alice, "badger") == []


def test_nothing_of_somebody_else_is_found(alice: Any, bob: Any) -> None:
    theirs = talk(bob, "We saw badgers", "Nice.", title="Badgers")
    assert found(alice, "badgers") == []
    assert found(alice, "badgers", Filter(conversation=theirs.pk)) == []


def test_a_better_fit_and_a_later_day_come_first(alice: Any) -> None:
    long_ago = talk(alice, "badgers badgers", days_ago=900)
    lately = talk(alice, "badgers badgers")
    in_passing = talk(alice, f"badgers {'and other words ' * 30}")
    titled = talk(alice, "Hello", title="On badgers", days_ago=30)
    assert [one.conversation for one in found(alice, "badgers")] == [titled, lately, long_ago, in_passing]
    newest = [one.conversation for one in found(alice, "badgers", Filter(newest_first=True))]
    assert newest == [in_passing, lately, titled, long_ago]


def test_freshness_fades_by_half_a_season_and_never_wholly() -> None:
    assert freshness(timedelta(0)) == 1.0
    assert freshness(conversation_search.HALF_LIFE) == 0.5
    assert freshness(timedelta(days=10_000)) == 0.25


def test_filters_narrow_it_down(alice: Any) -> None:
    old = talk(alice, "badgers", "no animal here", days_ago=100)
    new = talk(alice, "what digs?", "badgers do")
    day = timezone.localdate(timezone=alice.zone) - timedelta(days=50)
    Conversation.objects.filter(pk=old.pk).update(archived_at=timezone.now())
    expected = [
        (Filter(role="user"), {old}),
        (Filter(role="assistant"), {new}),
        (Filter(since=day), {new}),
        (Filter(until=day), {old}),
        (Filter(archived="no"), {new}),
        (Filter(archived="only"), {old}),
        (Filter(conversation=old.pk), {old}),
        (ALL, {old, new}),
    ]
    for only, wanted in expected:
        assert {one.conversation for one in found(alice, "badgers", only)} == wanted, only


def test_the_days_are_the_persons_own(alice: Any) -> None:
    alice.time_zone = "Pacific/Kiritimati"
    alice.save()
    conversation = talk(alice, "badgers")
    today = timezone.now().astimezone(alice.zone).date()
    assert found(alice, "badgers", Filter(since=today))[0].conversation == conversation
    assert found(alice, "badgers", Filter(until=today - timedelta(days=1))) == []


def test_the_rest_of_many_hits_is_a_number(alice: Any) -> None:
    talk(alice, *(f"badgers {number}" for number in range(8)))
    (one,) = found(alice, "badgers")
    assert (len(one.hits), one.more) == (conversation_search.HITS_SHOWN, 8 - conversation_search.HITS_SHOWN)
    (one,) = found(alice, "badgers", Filter(conversation=one.conversation.pk))
    assert (len(one.hits), one.more) == (8, 0)


def test_of_a_common_word_the_newest_are_weighed(alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation_search, "MAX_RANKED", 2)
    talk(alice, "badgers, the first")
    talk(alice, "badgers, the second", "badgers, the third")
    results = search(alice, "badgers", ALL, timezone.now())
    assert results.is_cut
    assert [sorted(texts(one)) for one in results.found] == [["badgers, the second", "badgers, the third"]]


def test_a_page_takes_five_statements(alice: Any, django_assert_max_num_queries: Any) -> None:
    for number in range(12):
        talk(alice, f"badgers {number}", "Yes.", title="badgers")
    with django_assert_max_num_queries(5):
        assert len(found(alice, "badgers")) == conversation_search.PAGE_SIZE


# Branches --------------------------------------------------------------------------------------------------------


def branched(alice: Any, left: str, followed: str) -> Conversation:
    """A question that was answered twice; the second answer is active."""
    conversation = talk(alice, "What digs?", left)
    first = conversation.active_leaf
    assert first is not None
    conversation.active_leaf = first.parent
    say(conversation, followed)
    return conversation


def test_a_branch_that_was_left_is_found_and_says_so(alice: Any) -> None:
    branched(alice, "Badgers do.", "Moles do.")
    assert [hit.is_followed for one in found(alice, "badgers") for hit in one.hits] == [False]
    assert [hit.is_followed for one in found(alice, "moles") for hit in one.hits] == [True]


def test_the_same_text_on_two_branches_is_shown_once_where_it_is_followed(alice: Any) -> None:
    conversation = branched(alice, "Badgers do.", "Badgers do.")
    (one,) = found(alice, "badgers")
    assert [hit.id for hit in one.hits] == [conversation.active_leaf_id]
    assert (one.more, one.hits[0].is_followed) == (0, True)


# What is shown ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "typed", "shown"),
    [
        ("red roses", "roses", "red <mark>roses</mark>"),
        ("Rosetta rose", "ros", "<mark>Rosetta</mark> <mark>rose</mark>"),
        ("Rosetta rose", "rose ", "Rosetta <mark>rose</mark>"),
        ("red,  roses", '"red roses"', "<mark>red,  roses</mark>"),
        ("<b>roses</b> & co", "roses", "&lt;b&gt;<mark>roses</mark>&lt;/b&gt; &amp; co"),
        ("<script>alert(1)</script>", "script", "&lt;<mark>script</mark>&gt;alert(1)&lt;/<mark>script</mark>&gt;"),
        ("a < b", "lt amp", "a &lt; b"),
        ("nothing", "", "nothing"),
    ],
)
def test_hits_are_marked_and_everything_else_escaped(text: str, typed: str, shown: str) -> None:
    assert highlight(text, parse_query(typed)) == shown


def test_a_snippet_shows_the_place_and_is_short() -> None:
    text = f"{'before ' * 100}the roses stand here {'after ' * 100}"
    shown = str(snippet(text, parse_query("roses")))
    assert "<mark>roses</mark>" in shown
    assert shown.startswith("…before")
    assert shown.endswith("after…")
    assert len(shown) < 300


def test_marking_a_hostile_text_takes_no_time() -> None:
    one: SearchQuery = parse_query('"a b c d e f" ' + "a " * 100 + "a")
    assert len(str(snippet("a " * 200_000, one))) < 5_000


# The page --------------------------------------------------------------------------------------------------------


def test_every_hit_leads_to_its_message(sign_in: SignIn, alice: Any) -> None:
    conversation = talk(alice, "We saw badgers", "Where?")
    client = sign_in(alice)
    html = client.get("/search?q=badgers").content.decode()
    first = conversation.messages.earliest("seq")
    assert f'href="/m/{first.pk}"' in html
    assert "We saw <mark>badgers</mark>" in html
    assert client.get(f"/m/{first.pk}")["Location"].endswith(f"#m-{first.pk}")
    said = first.created_at.astimezone(alice.zone)
    assert f">{said.day} {said:%B %Y, %H:%M}</time>" in html, "with its day, also today"


def test_more_comes_by_a_link_that_htmx_follows(sign_in: SignIn, alice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation_search, "PAGE_SIZE", 2)
    for number in range(3):
        talk(alice, f"badgers {number}")
    client = sign_in(alice)
    html = client.get("/search?q=badgers&in=conversations&role=user").content.decode()
    more = re.search(r'href="\?([^"]+page=2)" hx-get', html)
    assert more is not None
    assert "Found in 3 conversations" in html
    rest = client.get(f"/search?{more[1].replace('&amp;', '&')}", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in rest
    assert rest.count('class="card found"') == 1
    assert "page=3" not in rest


def test_an_empty_page_teaches_and_an_empty_result_says_what_to_try(sign_in: SignIn, alice: Any) -> None:
    talk(alice, "otters")
    client = sign_in(alice)
    assert "-word to exclude" in client.get("/search").content.decode()
    html = client.get("/search?q=badgers").content.decode()
    assert "Try fewer or other words" in html


@pytest.mark.parametrize(
    "query", ["since=someday", "in=conversations&role=tool", "page=0", "page=99999", "within=x", f"q={'x' * 301}"]
)
def test_a_senseless_filter_is_refused_in_words(sign_in: SignIn, alice: Any, query: str) -> None:
    assert sign_in(alice).get(f"/search?{query}").status_code == 422
