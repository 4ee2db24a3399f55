"""The chat's pages show users their own conversations, and the possible next steps."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client, RequestFactory

from chat.messages.rendering import format_time, message_html, messages_html
from chat.models import Conversation, Message, Project
from chat.pages import message_window
from memory.librarian.rules.engine import VERSION
from memory.models import Fact, LibrarianRun
from recall.views import server_error

SignIn = Callable[[Any], Client]


def say(conversation: Conversation, text: str, **fields: Any) -> Message:
    """Append one message, alternating between the user and Recall."""
    parent = conversation.active_leaf
    is_question = parent is None or parent.role == Message.Role.ASSISTANT
    message = Message.objects.create(
        user=conversation.user,
        conversation=conversation,
        seq=conversation.next_seq,
        parent=parent,
        turn=(parent.turn if parent else 0) + is_question,
        role=Message.Role.USER if is_question else Message.Role.ASSISTANT,
        event_type=Message.Event.USER_MESSAGE if is_question else Message.Event.ASSISTANT_RESPONSE,
        text=text,
        **fields,
    )
    conversation.active_leaf, conversation.next_seq = message, message.seq + 1
    conversation.save()
    return message


@pytest.fixture
def conversation(alice: Any) -> Conversation:
    """Alice's conversation with one finished exchange."""
    made = Conversation.objects.create(user=alice, title="Zebra crossing")
    say(made, "My sister <b>Mary</b> lives in Lisbon.\nSince *May*.")
    say(made, "**Noted.**")
    return made


# Signing in, and whose it is ------------------------------------------------------------------------------------------

PARTIALS = ["", "/messages", "/librarian", "/menu", "/export.md"]
DEEDS = ["/end", "/read-again", "/rename", "/pin", "/archive", "/delete"]


NOBODYS = "/c/00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize("address", ["/conversations", "/c/new/messages", NOBODYS, "/m/1"])
def test_a_page_asks_who_you_are(client: Client, db: None, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 302
    assert response["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize("part", PARTIALS)
def test_another_persons_conversation_is_not_there(
    sign_in: SignIn, bob: Any, conversation: Conversation, part: str
) -> None:
    assert sign_in(bob).get(f"/c/{conversation.pk}{part}").status_code == 404


@pytest.mark.parametrize("deed", DEEDS)
def test_nothing_can_be_done_to_another_persons_conversation(
    sign_in: SignIn, bob: Any, conversation: Conversation, deed: str
) -> None:
    assert sign_in(bob).post(f"/c/{conversation.pk}{deed}", {"title": "Bob's"}).status_code == 404
    conversation.refresh_from_db()
    assert conversation.title == "Zebra crossing"


@pytest.mark.parametrize("deed", DEEDS)
def test_a_link_alone_changes_nothing(sign_in: SignIn, alice: Any, conversation: Conversation, deed: str) -> None:
    assert sign_in(alice).get(f"/c/{conversation.pk}{deed}").status_code == 405


def test_another_persons_conversation_is_not_in_the_list(sign_in: SignIn, bob: Any, conversation: Conversation) -> None:
    client = sign_in(bob)
    assert b"Zebra" not in client.get("/").content
    assert b"Zebra" not in client.get(f"/conversations?current={conversation.pk}").content


def test_another_persons_message_leads_nowhere(sign_in: SignIn, bob: Any, conversation: Conversation) -> None:
    assert sign_in(bob).get(f"/m/{conversation.active_leaf_id}").status_code == 404


@pytest.mark.parametrize("address", ["/m/99999999999999999999", NOBODYS, "/c/none"])
def test_what_is_not_there_is_not_found(sign_in: SignIn, alice: Any, address: str) -> None:
    assert sign_in(alice).get(address).status_code == 404


# Messages -------------------------------------------------------------------------------------------------------------


def test_the_users_words_stand_as_typed_and_the_answer_is_rendered(
    sign_in: SignIn, alice: Any, conversation: Conversation
) -> None:
    html = sign_in(alice).get(f"/c/{conversation.pk}").content.decode()
    assert "My sister &lt;b&gt;Mary&lt;/b&gt; lives in Lisbon.\nSince *May*.</div>" in html
    assert "<strong>Noted.</strong>" in html


def test_the_page_and_the_socket_render_the_same(sign_in: SignIn, alice: Any, conversation: Conversation) -> None:
    question, answer = conversation.messages.all()
    page = "".join(sign_in(alice).get(f"/c/{conversation.pk}/messages").content.decode().split())
    for pushed in (message_html(question, user=alice), message_html(answer, user=alice)):
        assert "".join(pushed.split()) in page
    assert messages_html([question, answer], user=alice) == message_html(question, user=alice) + message_html(
        answer, user=alice
    )


def test_rendering_a_message_asks_the_database_only_what_stands_beside_it(
    alice: Any, conversation: Conversation, django_assert_num_queries: Any
) -> None:
    answer = conversation.messages.latest("seq")
    with django_assert_num_queries(1):
        message_html(answer, user=alice)


def test_an_answer_being_written_is_rendered_and_marked_busy(alice: Any, conversation: Conversation) -> None:
    say(conversation, "And now?")
    answer = say(conversation, "It is **so", status=Message.Status.STREAMING)
    html = message_html(answer, user=alice)
    assert 'data-text aria-busy="true"><p>It is **so</p>' in html
    assert "aria-live" not in html


@pytest.mark.parametrize(
    ("status", "event_data", "sentence", "offers"),
    [
        ("complete", {"stop_reason": "end_turn"}, "", ["copy", "context", "retry"]),
        ("complete", {"stop_reason": "max_tokens"}, "reached its length limit", ["continue"]),
        ("interrupted", {"stop_reason": "stopped"}, "You stopped this answer", ["continue", "retry"]),
        ("failed", {"error": {"code": "x", "sentence": "The model is <busy>."}}, "model is &lt;busy&gt;.", ["retry"]),
    ],
)
def test_how_an_answer_ended_is_told_with_what_can_be_done(
    alice: Any, conversation: Conversation, status: str, event_data: dict[str, Any], sentence: str, offers: list[str]
) -> None:
    say(conversation, "And now?")
    text = "" if status == "failed" else "So far"
    html = message_html(say(conversation, text, status=status, event_data=event_data), user=alice)
    assert sentence in html
    offered = set(re.findall(r'data-action="(\w+)"', html))
    assert set(offers) <= offered
    assert ("copy" in offered) == bool(text)


def test_a_message_nobody_typed_is_told_as_what_it_was(alice: Any, conversation: Conversation) -> None:
    asked = say(conversation, "Please continue exactly where you stopped.", event_data={"continues": 1})
    html = message_html(asked, user=alice)
    assert "You asked Recall to continue" in html
    assert "Please continue" not in html


def test_early_messages_come_on_request(
    sign_in: SignIn, alice: Any, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_window, "WINDOW_SIZE", 2)
    say(conversation, "Later question")
    say(conversation, "Later answer")
    client = sign_in(alice)
    html = client.get(f"/c/{conversation.pk}").content.decode()
    assert "My sister" not in html
    earlier = re.search(r'href="(\?until=\d+)"', html)
    assert earlier is not None
    assert "My sister" in client.get(f"/c/{conversation.pk}{earlier[1]}").content.decode()


def test_an_empty_chat_takes_the_place_of_a_conversation_with_all_that_differs(sign_in: SignIn, alice: Any) -> None:
    project = Project.objects.create(user=alice, name="Bean patch", path="/projects/beans")
    html = sign_in(alice).get("/c/new/messages", {"project": project.pk}).content.decode()
    assert "<html" not in html
    assert re.findall(r'id="([\w-]+)" hx-swap-oob="true"', html) == ["talk-header", "folding", "choices"]
    assert html.index('id="messages"') < html.index('id="welcome"') < html.index('id="talk-header"')
    assert f'<option value="{project.pk}" selected' in html


def test_a_messages_address_leads_to_it_in_its_conversation(
    sign_in: SignIn, alice: Any, conversation: Conversation
) -> None:
    first, client = conversation.messages.earliest("seq"), sign_in(alice)
    there = f"/c/{conversation.pk}#m-{first.pk}"
    assert client.get(f"/m/{first.pk}")["Location"] == there
    assert client.get(f"/m/{first.pk}", headers={"HX-Request": "true"})["HX-Redirect"] == there


def test_an_early_messages_address_asks_for_what_is_around_it(
    sign_in: SignIn, alice: Any, conversation: Conversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_window, "WINDOW_SIZE", 1)
    first = conversation.messages.earliest("seq")
    assert sign_in(alice).get(f"/m/{first.pk}")["Location"] == f"/c/{conversation.pk}?at={first.pk}#m-{first.pk}"


@pytest.mark.parametrize(
    ("at", "told"),
    [
        (datetime(2026, 11, 21, 7, 5, tzinfo=UTC), "08:05"),
        (datetime(2026, 11, 20, 23, 30, tzinfo=UTC), "00:30"),
        (datetime(2026, 11, 20, 22, 30, tzinfo=UTC), "20 Nov, 23:30"),
        (datetime(2024, 2, 29, 12, 0, tzinfo=UTC), "29 Feb 2024, 13:00"),
    ],
)
def test_times_are_told_in_the_users_zone(at: datetime, told: str) -> None:
    assert format_time(at, ZoneInfo("Europe/Madrid"), datetime(2026, 11, 21, 12, tzinfo=UTC)) == told


# The librarian, and ending -------------------------------------------------------------------------------------------


@pytest.fixture
def run(alice: Any, conversation: Conversation) -> LibrarianRun:
    """A finished librarian run over Alice's conversation."""
    Conversation.objects.filter(pk=conversation.pk).update(librarian_watermark=2)
    return LibrarianRun.objects.create(
        user=alice, conversation=conversation, first_seq=1, last_seq=2, trigger="ended", state=LibrarianRun.State.DONE
    )


def librarian(client: Client, conversation: Conversation) -> str:
    html = client.get(f"/c/{conversation.pk}/librarian").content.decode()
    return " ".join(re.sub(r"<[^>]+>", "", html).split())


@pytest.mark.parametrize("state", ["pending", "running"])
def test_while_it_is_read_the_page_says_so(
    sign_in: SignIn, alice: Any, conversation: Conversation, run: LibrarianRun, state: str
) -> None:
    LibrarianRun.objects.filter(pk=run.pk).update(state=state)
    assert librarian(sign_in(alice), conversation).startswith("Recall is reading this conversation…")


def test_what_was_learned_and_what_waits_is_counted_as_it_is_now(
    sign_in: SignIn, alice: Any, conversation: Conversation, run: LibrarianRun
) -> None:
    active = Fact.objects.create(user=alice, statement="A", status=Fact.Status.ACTIVE, run=run)
    Fact.objects.create(user=alice, statement="B", run=run)
    Fact.objects.create(user=alice, statement="C", run=run)
    Fact.objects.create(user=alice, statement="From elsewhere", status=Fact.Status.ACTIVE)
    LibrarianRun.objects.filter(pk=run.pk).update(learned=1, waiting=2)
    client = sign_in(alice)
    assert librarian(client, conversation).startswith("1 learned, 2 to review")
    Fact.objects.filter(pk=active.pk).update(status=Fact.Status.REJECTED)
    assert librarian(client, conversation).startswith("2 to review")


def test_a_reading_that_found_nothing_says_so(
    sign_in: SignIn, alice: Any, conversation: Conversation, run: LibrarianRun
) -> None:
    client, english = sign_in(alice), "Without a language model, Recall learns from English only."
    assert librarian(client, conversation).startswith("Nothing new to save.")
    LibrarianRun.objects.filter(pk=run.pk).update(engine=VERSION)
    assert english in librarian(client, conversation)
    LibrarianRun.objects.filter(pk=run.pk).update(engine="model/1 claude-sonnet-5-5")
    assert english not in librarian(client, conversation)
    assert "Nothing new" not in client.get(f"/c/{conversation.pk}").content.decode(), "only when it has just been read"


def test_a_reading_that_failed_says_why_and_can_be_tried_again(
    sign_in: SignIn, alice: Any, conversation: Conversation, run: LibrarianRun
) -> None:
    LibrarianRun.objects.filter(pk=run.pk).update(state=LibrarianRun.State.FAILED, error="The model refused.")
    client = sign_in(alice)
    assert "Recall couldn't read this conversation: The model refused. Retry" in librarian(client, conversation)
    assert client.post(f"/c/{conversation.pk}/read-again").status_code == 302
    run.refresh_from_db()
    assert run.state == LibrarianRun.State.PENDING


def test_ending_a_conversation_has_it_read(sign_in: SignIn, alice: Any, conversation: Conversation) -> None:
    response = sign_in(alice).post(f"/c/{conversation.pk}/end", headers={"hx-request": "true"})
    assert "Recall is reading this conversation" in response.content.decode()
    conversation.refresh_from_db()
    assert conversation.status == Conversation.Status.ENDED
    assert LibrarianRun.objects.get(conversation=conversation).last_seq == 2


def test_saving_memories_again_says_that_nothing_is_new(
    sign_in: SignIn, alice: Any, conversation: Conversation, run: LibrarianRun
) -> None:
    Fact.objects.create(user=alice, statement="A", status=Fact.Status.ACTIVE, run=run)
    LibrarianRun.objects.filter(pk=run.pk).update(learned=1)
    client = sign_in(alice)
    assert librarian(client, conversation).startswith("1 learned")

    page = client.post(f"/c/{conversation.pk}/end", headers={"hx-request": "true"}).content.decode()

    assert "Nothing new to save. " in page
    assert "1 learned" in page


def test_a_second_reading_that_found_nothing_says_so_beside_what_the_first_one_learned(
    sign_in: SignIn, alice: Any, conversation: Conversation, run: LibrarianRun
) -> None:
    Fact.objects.create(user=alice, statement="A", status=Fact.Status.ACTIVE, run=run)
    second = LibrarianRun.objects.create(
        user=alice, conversation=conversation, first_seq=3, last_seq=4, trigger="ended", state=LibrarianRun.State.DONE
    )
    client = sign_in(alice)
    assert librarian(client, conversation).startswith("Nothing new to save. 1 learned")
    assert "Nothing new" not in client.get(f"/c/{conversation.pk}").content.decode()
    LibrarianRun.objects.filter(pk=second.pk).update(trigger="turns")
    assert librarian(client, conversation).startswith("1 learned"), "no one asked"


def test_ending_works_without_javascript(sign_in: SignIn, alice: Any, conversation: Conversation) -> None:
    response = sign_in(alice).post(f"/c/{conversation.pk}/end")
    assert response["Location"] == f"/c/{conversation.pk}"


# Every page -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_chosen_theme_is_there_from_the_first_byte(sign_in: SignIn, alice: Any, theme: str) -> None:
    client = sign_in(alice)
    client.cookies["theme"] = theme
    assert f'<html lang="en" data-theme="{theme}">' in client.get("/").content.decode()


def test_a_theme_nobody_offers_is_not_repeated(sign_in: SignIn, alice: Any) -> None:
    client = sign_in(alice)
    client.cookies["theme"] = '"><script>'
    assert '<html lang="en">' in client.get("/").content.decode()


@pytest.mark.parametrize(("is_offline", "said"), [(True, True), (False, False)])
def test_every_page_of_a_user_says_when_the_demo_model_answers(
    client: Client,
    alice: Any,
    sign_in: SignIn,
    conversation: Conversation,
    settings: Any,
    is_offline: bool,
    said: bool,
) -> None:
    settings.IS_OFFLINE = is_offline
    assert "answers come from your memories" not in client.get("/").content.decode(), "a visitor asks nothing"
    assert ("answers come from your memories" in sign_in(alice).get("/settings").content.decode()) is said
    for address in ("/", f"/c/{conversation.pk}"):
        page = client.get(address).content.decode()
        assert (">Demo model<" in page, "every model gives the same demo answers" in page) == (said, said)


@pytest.mark.parametrize(
    "address",
    ["/", "/accounts/email/", "/accounts/password/change/", "/accounts/logout/", "/nowhere"],
)
def test_a_page_holds_no_inline_script_or_style(
    sign_in: SignIn, alice: Any, conversation: Conversation, address: str
) -> None:
    response = sign_in(alice).get(address)
    html = response.content.decode()
    assert "unsafe-inline" not in response["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]* src=)[^>]*>|<style|\sstyle=|\son\w+=|javascript:", html)


@pytest.mark.parametrize("address", ["login", "signup", "password/reset", "password/reset/done"])
def test_a_stranger_finds_the_way_in(client: Client, db: None, address: str) -> None:
    html = client.get(f"/accounts/{address}/").content.decode()
    assert html.count("<h1>") == 1
    assert 'class="entrance"' in html


def test_the_page_for_a_fault_needs_nothing() -> None:
    page = server_error(RequestFactory().get("/")).content.decode()
    assert "Something went wrong on our side." in page
