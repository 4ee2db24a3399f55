"""The palette offers what fits the page and the typed words; the page and the script use one table of keys."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.models import Conversation, Project
from chat.pages.palette import COMMANDS, SHORTCUTS, Group, find_options
from chat.pages.settings import sections
from memory.models import Fact
from tests.chat.conversations.test_search import talk
from tests.chat.pages.test_pages import say

SignIn = Callable[[Any], Client]


@pytest.fixture
def conversation(alice: Any) -> Conversation:
    """Alice's conversation."""
    made: Conversation = Conversation.objects.create(user=alice, title="Trip to Lisbon")
    return made


def names(groups: list[Group], heading: str = "Commands") -> list[str]:
    """The options below a heading."""
    return [option.name for group in groups if group.heading == heading for option in group.options]


def test_commands_of_a_conversation_are_offered_on_its_page_only(alice: Any, conversation: Conversation) -> None:
    of_it = {"Rename this conversation", "Pin this conversation", "Archive this conversation"}
    of_it |= {"Delete this conversation", "Export this conversation as Markdown"}
    assert of_it <= set(names(find_options(alice, "", conversation.pk)))
    assert not of_it & set(names(find_options(alice, "", None)))


def test_what_is_done_already_is_offered_to_be_undone(alice: Any, conversation: Conversation) -> None:
    conversation.pinned_at = conversation.archived_at = timezone.now()
    conversation.save()
    offered = names(find_options(alice, "", conversation.pk))
    assert {"Unpin this conversation", "Unarchive this conversation"} <= set(offered)
    assert not {"Pin this conversation", "Archive this conversation"} & set(offered)


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("del", "Delete this conversation"),
        ("dark", "Dark theme"),
        ("theme l", "Light theme"),
        ("incog", "Temporary chat"),
        ("new conv", "New conversation"),
        ("keys", "Keyboard shortcuts"),
        ("markdown", "Export this conversation as Markdown"),
        ("timeline", "Timeline"),
        ("episodes", "Timeline"),
        ("role", "Roles"),
        ("passkey", "Settings: Security"),
        ("two-factor", "Settings: Security"),
        ("api key", "Settings: API keys"),
        ("time zone", "Settings: Account"),
        ("export", "Import and export"),
        ("download data", "Settings: Data"),
        ("settings", "Settings"),
    ],
)
def test_commands_are_found_by_the_beginnings_of_their_words(
    alice: Any, conversation: Conversation, typed: str, first: str
) -> None:
    assert first in names(find_options(alice, typed, conversation.pk))[:2]


def test_every_page_of_the_settings_is_found_and_none_before_something_is_typed(alice: Any) -> None:
    wanted = [f"Settings: {label}" for label, _, _ in sections("")]
    assert [name for name in names(find_options(alice, "settings", None)) if ":" in name] == wanted
    assert not [name for name in names(find_options(alice, "", None)) if ":" in name]


def test_whatever_is_a_link_leads_to_a_page(sign_in: SignIn, alice: Any, conversation: Conversation) -> None:
    client = sign_in(alice)
    offered = [*find_options(alice, "", conversation.pk), *find_options(alice, "settings", conversation.pk)]
    links = {
        option.href for group in offered if group.heading == "Commands" for option in group.options if not option.send
    }
    assert len(links) > 20
    assert {link: status for link in links if link and (status := client.get(link).status_code) != 200} == {}


def test_something_is_forgotten_where_the_button_of_that_name_leads(sign_in: SignIn, alice: Any) -> None:
    (offered,) = [option for group in find_options(alice, "forget something", None)[:1] for option in group.options]
    assert offered.href == "/memory/forgotten"
    assert f'href="{offered.href}">{offered.name}</a>' in sign_in(alice).get("/settings/data").content.decode()


def test_conversations_are_found_by_their_titles_and_the_open_one_is_not_among_them(
    alice: Any, bob: Any, conversation: Conversation
) -> None:
    other = Conversation.objects.create(user=alice, title="Lisbon, again", archived_at=timezone.now())
    Conversation.objects.create(user=bob, title="Bob's Lisbon")
    assert names(find_options(alice, "lisb", conversation.pk), "Conversations") == ["Lisbon, again"]
    initial = find_options(alice, "", None)
    assert names(initial, "Conversations") == ["Trip to Lisbon"], "archived ones only when asked for"
    assert [group.heading for group in initial] == ["Conversations", "Commands"]
    found = [option for group in find_options(alice, "again", None) for option in group.options]
    assert (found[0].href, found[0].note) == (f"/c/{other.pk}", "Archived")


def test_projects_are_found_by_their_names(sign_in: SignIn, alice: Any, bob: Any) -> None:
    mine = Project.objects.create(user=alice, name="Roof garden", path="/projects/garden")
    Project.objects.create(user=alice, name="Garden shed", path="/projects/shed", archived_at=timezone.now())
    Project.objects.create(user=bob, name="Bob's garden", path="/projects/garden")
    groups = find_options(alice, "gard", None)
    assert names(groups, "Projects") == ["Garden shed", "Roof garden"]
    assert [option.note for option in groups[0].options] == ["Archived", ""]
    assert names(find_options(alice, "garden roof", None), "Projects") == ["Roof garden"]
    assert not names(find_options(alice, "", None), "Projects")
    assert f'href="/projects/{mine.pk}"' in sign_in(alice).get("/palette?q=roof").content.decode()


def test_facts_in_use_are_found_by_their_words_before_commands(sign_in: SignIn, alice: Any, bob: Any) -> None:
    fact = Fact.objects.create(user=alice, statement="The user prefers dark roast (no C++).", status="active")
    for status in ("proposed", "superseded", "rejected", "expired", "archived"):
        Fact.objects.create(user=alice, statement=f"The user likes dark {status} rooms.", status=status)
    past = {"status": "active", "valid_until": timezone.now()}
    Fact.objects.create(user=alice, statement="The user lives in the Dark House.", **past)
    Fact.objects.create(user=bob, statement="The user fears the dark.", status="active")
    groups = find_options(alice, "DARK", None)
    assert [group.heading for group in groups] == ["What Recall knows", "Commands", "Search"]
    (found,) = groups[0].options
    assert found.name == "You prefer dark roast (no C++)."
    assert found.href == f"/memory/facts/{fact.pk}"
    assert found.name in sign_in(alice).get("/palette", {"q": "roast dark"}).content.decode()
    for typed, many in {"(no c++)": 1, "user": 0, "ark": 0, "": 0, "dark .*": 0}.items():
        assert len(names(find_options(alice, typed, None), "What Recall knows")) == many, typed


def test_the_most_important_five_facts_are_enough(alice: Any) -> None:
    for number in range(7):
        statement, importance = f"The user owns kayak {number}.", number / 10
        Fact.objects.create(user=alice, statement=statement, status="active", importance=importance)
    found = names(find_options(alice, "kayak", None), "What Recall knows")
    assert found == [f"You own kayak {number}." for number in (6, 5, 4, 3, 2)]


def test_the_last_offer_is_to_search_everything_that_was_said(alice: Any) -> None:
    groups = find_options(alice, "a <b> & c", None)
    (last,) = groups[-1].options
    assert last.name == "Search for “a <b> & c”"
    assert last.href == "/search?q=a+%3Cb%3E+%26+c"
    assert names(find_options(alice, "", None), "Search") == []


def test_another_persons_conversation_is_none_of_this_page(alice: Any, bob: Any) -> None:
    theirs = Conversation.objects.create(user=bob, title="Bob's")
    assert "Delete this conversation" not in names(find_options(alice, "", theirs.pk))


def test_it_takes_six_statements(alice: Any, conversation: Conversation, django_assert_num_queries: Any) -> None:
    say(conversation, "Lisbon in May?")
    with django_assert_num_queries(6):
        find_options(alice, "lisbon", conversation.pk)
    with django_assert_num_queries(4):
        find_options(alice, "li", conversation.pk)


def test_conversations_are_found_by_what_was_said_before_commands_that_have_the_word(
    sign_in: SignIn, alice: Any, bob: Any, conversation: Conversation
) -> None:
    say(conversation, "The *night* tram number 28.")
    best = say(talk(alice, "Any film?", title="Evening"), "A <b>night</b> one.")
    titled = talk(alice, "Night or day?", title="Night walk")
    Conversation.objects.filter(pk=talk(alice, "Too late at night to read.", title="Gone").pk).update(
        deleted_at=timezone.now()
    )
    talk(bob, "Night sky.", title="Bob's")
    groups = find_options(alice, "nig", None)
    assert [group.heading for group in groups] == ["Conversations", "Messages", "Commands", "Search"]
    assert [option.href for option in groups[0].options] == [f"/c/{titled.pk}"]
    assert {option.name for option in groups[1].options} == {"Trip to Lisbon", "Evening"}
    html = sign_in(alice).get("/palette?q=night+one").content.decode()
    assert f'data-href="/m/{best.pk}"' in html
    assert "A &lt;b&gt;<mark>night</mark>&lt;/b&gt; <mark>one</mark>." in html
    assert not names(find_options(alice, "ni", None), "Messages"), "two letters start a word of almost every message"


def test_a_command_whose_name_is_typed_is_before_what_was_said(alice: Any) -> None:
    talk(alice, "In a new conversation you forgot the theme, dark or light.", title="Help")
    groups = find_options(alice, "new conv", None)
    assert [group.heading for group in groups] == ["Commands", "Messages", "Search"]
    assert [group.heading for group in find_options(alice, "theme", None)] == ["Messages", "Commands", "Search"]


@pytest.mark.parametrize("at", ["", "x", "00000000-0000-4000-8000-000000000000"])
def test_the_list_is_options_of_a_listbox(sign_in: SignIn, alice: Any, at: str) -> None:
    html = sign_in(alice).get("/palette", {"q": "\x00", "at": at}).content.decode()
    ids = re.findall(r'role="option" aria-selected="false" id="([^"]+)"', html)
    assert len(ids) == len(set(ids)) > 10
    assert 'role="group" aria-labelledby="palette-group-1"' in html


def test_what_changes_something_is_sent_as_a_form_to_an_address_that_takes_no_link(
    sign_in: SignIn, alice: Any, conversation: Conversation
) -> None:
    client = sign_in(alice)
    html = client.get("/palette", {"at": str(conversation.pk)}).content.decode()
    sent = re.findall(r'data-href="([^"]+)" data-send="', html)
    assert len(sent) == len([command for command in COMMANDS if command.send is not None]) - 2  # unpin, unarchive
    assert {client.get(address).status_code for address in sent} == {405}


# Keys -----------------------------------------------------------------------------------------------------------------


def test_the_page_of_shortcuts_shows_the_whole_table(sign_in: SignIn, alice: Any) -> None:
    html = sign_in(alice).get("/shortcuts").content.decode()
    for shortcut in SHORTCUTS:
        assert shortcut.does in html
        assert all(f"<kbd>{key}</kbd>" in html for key in shortcut.keys)


def test_the_script_reads_the_same_table(sign_in: SignIn, alice: Any) -> None:
    html = sign_in(alice).get("/").content.decode()
    told = dict(re.findall(r'data-key="([^"]+)" data-href="([^"]*)"', html))
    assert told.keys() == {shortcut.single for shortcut in SHORTCUTS if shortcut.single}
    assert told["?"] == "/shortcuts"
    assert told["/"] == "/search"


def test_no_key_does_two_things() -> None:
    ours = [shortcut.single for shortcut in SHORTCUTS if shortcut.single]
    assert len(ours) == len(set(ours))


def test_single_keys_can_be_turned_off_and_on_again(sign_in: SignIn, alice: Any) -> None:
    client = sign_in(alice)
    assert 'data-single-keys=""' in client.get("/").content.decode()
    assert "Single-key shortcuts are off" in client.post("/shortcuts", follow=True).content.decode()
    assert 'data-single-keys="off"' in client.get("/").content.decode()
    client.post("/shortcuts", {"single": "1"})
    assert 'data-single-keys=""' in client.get("/").content.decode()


def test_a_visitor_gets_no_palette(client: Client, db: None) -> None:
    assert "palette.js" not in client.get("/accounts/login/").content.decode()
