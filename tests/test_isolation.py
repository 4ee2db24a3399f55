"""Bob sees nothing of Alice's: every URL of the site is requested as Bob, as a visitor, and as Charlie for the admin.

The table below is checked against the URL configuration, so that a new page can't be forgotten.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.admin import autodiscover, site
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from accounts.models import ApiKey, User
from budget.models import ProfileSnapshot, Receipt
from chat.models import Attachment, Conversation, ImportJob, Message, Project, Role, Segment
from memory import tombstones
from memory.documents import revisions
from memory.index.indexer import index_conversation
from memory.models import Boundary, Document, Episode, Fact, Forgetting, LibrarianRun, ReviewAction, Tombstone, Upload
from recall.db.acting import as_user

pytestmark = pytest.mark.django_db

SECRET = "xyzzy-secret"
OURS = ("chat.", "memory.", "budget.", "accounts.")
"""Packages with named addresses; those of recall/http/moved_addresses.py only redirect."""


@dataclass
class Hers:
    """One row of everything, each with the secret in its text."""

    conversation: Conversation
    question: Message
    answer: Message
    fact: Fact
    action: ReviewAction
    document: Document
    boundary: Boundary
    episode: Episode
    upload: Upload
    receipt: Receipt
    segment: Segment
    job: ImportJob
    key: ApiKey
    session: UserSession
    role: Role
    project: Project
    attachment: Attachment
    forgetting: Forgetting


@pytest.fixture
def hers(alice: Any) -> Hers:
    conversation = Conversation.objects.create(user=alice, title=f"About {SECRET}", next_seq=3)
    common: dict[str, Any] = {"user": alice, "conversation": conversation, "turn": 1, "text": SECRET}
    question = Message.objects.create(seq=1, role="user", event_type="user_message", client_id=uuid4(), **common)
    answer = Message.objects.create(seq=2, role="assistant", event_type="assistant_response", parent=question, **common)
    Conversation.objects.filter(pk=conversation.pk).update(active_leaf=answer)
    index_conversation(conversation.pk)
    run = LibrarianRun.objects.create(user=alice, conversation=conversation, first_seq=1, last_seq=2, trigger="ended")
    fact = Fact.objects.create(user=alice, statement=SECRET, quote=SECRET, message=question, run=run)
    done = Fact.objects.create(user=alice, statement=SECRET, status="active")
    action = ReviewAction.objects.create(user=alice, fact=done, verb="accept", by=alice, before={})
    document = revisions.save(alice, "/profile/identity", SECRET, "user", started_from=0)
    boundary = Boundary.objects.create(user=alice, text=SECRET)
    episode = Episode.objects.create(user=alice, conversation=conversation, title=SECRET, summary=SECRET)
    upload = Upload.objects.create(user=alice, name=SECRET, size=1, folder=f"/{SECRET}", state="failed", content=b"x")
    snapshot = ProfileSnapshot.objects.create(user=alice, conversation=conversation, text=SECRET, reason="new")
    item = {"ref": "fact:1", "section": "memories", "label": SECRET, "tokens": 1, "kept": True, "rule": "", "url": ""}
    receipt = Receipt.objects.create(
        user=alice, conversation=conversation, message=answer, turn=1, model="m", plan="standard", plan_total=1,
        items=[{**item, "score": 0.5, "parts": {}}], request_digest="0" * 64, snapshot=snapshot,
    )  # fmt: skip
    segment = Segment.objects.create(
        user=alice, conversation=conversation, number=1, first_turn=1, last_turn=1, last_message=answer, text=SECRET,
        summary={"narrative": SECRET},
    )  # fmt: skip
    job = ImportJob.objects.create(user=alice, name=SECRET, size=1, counts={"broken": [SECRET]})
    key = ApiKey.objects.create(user=alice, name=SECRET, prefix=SECRET, digest="0" * 64, scopes=["chat:read"])
    session = UserSession.objects.create(user=alice, ip="192.0.2.1", session_key="hers", user_agent=SECRET)
    role = Role.objects.create(user=alice, name=SECRET, instructions=SECRET)
    project = Project.objects.create(user=alice, name=SECRET, path=f"/projects/{SECRET}", instructions=SECRET)
    Conversation.objects.filter(pk=conversation.pk).update(role=role, scope=project.path)
    attachment = Attachment.objects.create(
        user=alice, kind="file", name=SECRET, media_type="text/plain", size=1, content=SECRET.encode(), text=SECRET
    )
    forgetting = Forgetting.objects.create(user=alice, what="fact")
    tombstones.record(alice.pk, tombstones.phrases_of("I live in Lisbon", (2, 1)), forgetting)
    return Hers(
        conversation, question, answer, fact, action, document, boundary, episode, upload, receipt, segment, job, key,
        session, role,
        project, attachment, forgetting,
    )  # fmt: skip


# URL → method, arguments from her rows, and fields. A page without arguments is Bob's own, without her secret.
HERS: dict[str, tuple[str, Any]] = {
    "conversation": ("get", lambda h: {"pk": h.conversation.pk}),
    "conversation_messages": ("get", lambda h: {"pk": h.conversation.pk}),
    "librarian_state": ("get", lambda h: {"pk": h.conversation.pk}),
    "folded_turns": ("get", lambda h: {"pk": h.conversation.pk, "segment": h.segment.pk}),
    "folding_state": ("get", lambda h: {"pk": h.conversation.pk}),
    "compact_conversation": ("post", lambda h: {"pk": h.conversation.pk}),
    "end_conversation": ("post", lambda h: {"pk": h.conversation.pk}),
    "read_again": ("post", lambda h: {"pk": h.conversation.pk}),
    "rename_conversation": ("post", lambda h: {"pk": h.conversation.pk}),
    "cancel_import": ("post", lambda h: {"pk": h.job.pk}),
    "delete_conversation": ("post", lambda h: {"pk": h.conversation.pk}),
    "conversation_menu": ("get", lambda h: {"pk": h.conversation.pk}),
    "pin_conversation": ("post", lambda h: {"pk": h.conversation.pk}),
    "archive_conversation": ("post", lambda h: {"pk": h.conversation.pk}),
    "export_conversation": ("get", lambda h: {"pk": h.conversation.pk}),
    "conversation_choices": ("post", lambda h: {"pk": h.conversation.pk}),
    "role": ("post", lambda h: {"pk": h.role.pk}),
    "delete_role": ("post", lambda h: {"pk": h.role.pk}),
    "project": ("get", lambda h: {"pk": h.project.pk}),
    "archive_project": ("post", lambda h: {"pk": h.project.pk}),
    "delete_project": ("post", lambda h: {"pk": h.project.pk}),
    "upload_to_project": ("post", lambda h: {"pk": h.project.pk}),
    "message": ("get", lambda h: {"pk": h.question.pk}),
    "keep_message": ("post", lambda h: {"pk": h.answer.pk}),
    "answer_without": ("post", lambda h: {"pk": h.answer.pk}),
    "compare_answers": ("get", lambda h: {"pk": h.answer.pk}),
    "keep_answer": ("post", lambda h: {"pk": h.answer.pk}),
    "edit_message": ("get", lambda h: {"pk": h.question.pk}),
    "follow_branch": ("post", lambda h: {"pk": h.answer.pk}),
    "revoke_key": ("post", lambda h: {"pk": h.key.pk}),
    "end_session": ("post", lambda h: {"pk": h.session.pk}),
    "receipt": ("get", lambda h: {"message_id": h.answer.pk}),
    "receipt_debug": ("get", lambda h: {"message_id": h.answer.pk}),
    "attachment": ("get", lambda h: {"pk": h.attachment.pk}),
    "attachment_thumbnail": ("get", lambda h: {"pk": h.attachment.pk}),
    "attachment_text": ("get", lambda h: {"pk": h.attachment.pk}),
    "remove_attachment": ("post", lambda h: {"pk": h.attachment.pk}),
    "usage_line": ("get", lambda h: {"conversation": h.conversation.pk}),
    "retire_memory": ("post", lambda h: {"pk": h.fact.pk}),
    "memory:accept": ("post", lambda h: {"pk": h.fact.pk}),
    "memory:edit": ("post", lambda h: {"pk": h.fact.pk}),
    "memory:reject": ("post", lambda h: {"pk": h.fact.pk}),
    "memory:keep_both": ("post", lambda h: {"pk": h.fact.pk}),
    "memory:unrelated": ("post", lambda h: {"pk": h.fact.pk}),
    "memory:rule_for": ("post", lambda h: {"pk": h.fact.pk}),
    "memory:together": ("post", lambda h: {}),  # this one and the next name the facts in their fields
    "memory:merge": ("post", lambda h: {}),
    "memory:undo": ("post", lambda h: {"pk": h.action.pk}),
    "memory:save_document": ("post", lambda h: {"pk": h.document.pk}),
    "memory:versions": ("get", lambda h: {"pk": h.document.pk}),
    "memory:version": ("get", lambda h: {"pk": h.document.pk, "number": 1}),
    "memory:revert": ("post", lambda h: {"pk": h.document.pk}),
    "memory:fact": ("get", lambda h: {"pk": h.fact.pk}),
    "memory:correct": ("post", lambda h: {"pk": h.fact.pk}),
    "memory:link": ("post", lambda h: {"pk": h.fact.pk}),
    "memory:unlink": ("post", lambda h: {"pk": h.fact.pk, "other": h.fact.pk}),
    "preview": ("get", lambda h: {"pk": h.answer.pk, "number": 1}),
    "keep_using": ("post", lambda h: {"pk": h.question.pk}),
    "memory:why": ("get", lambda h: {"message_id": h.answer.pk, "ref": "fact:1"}),
    "memory:document": ("get", lambda h: {"path": h.document.path[1:]}),
    "memory:move": ("post", lambda h: {}),
    "memory:tags": ("post", lambda h: {}),
    "memory:remove": ("post", lambda h: {}),
    "memory:read_upload_again": ("post", lambda h: {"pk": h.upload.pk}),
    "memory:story": ("get", lambda h: {"pk": h.conversation.pk}),
    "memory:allow_again": ("post", lambda h: {"pk": h.forgetting.pk}),
    "memory:forget": ("post", lambda h: {}),  # its fields are those of tests/memory/forgetting/test_pages.py
    "memory:save_boundary": ("post", lambda h: {"pk": h.boundary.pk}),
    "memory:remove_boundary": ("post", lambda h: {"pk": h.boundary.pk}),
}
OWN_PAGES = [
    "new",  # visitors see the landing page there
    "new_messages",
    "attachments",
    "roles",
    "projects",
    "settings_account",
    "settings_model",
    "settings_security",
    "settings_keys",
    "make_key",
    "settings_data",
    "import",
    "import_jobs",
    "account_change_password",
    "delete_account",
    "conversations",
    "search",
    "palette",
    "shortcuts",
    "memory:documents",
    "memory:time_travel",
    "memory:review",
    "memory:history",
    "memory:rules",
    "memory:access_log",
    "memory:about",
    "memory:timeline",
    "memory:uploads",
    "memory:forgotten",
    "memory:clean_ups",
    "usage",
    "usage_advanced",
    "usage_now",
    "usage_turn",
    "usage_charts",
    "answers",
]
OWN_POSTS = [
    "conversations_together",  # test_conversation_list.py and test_trash.py check what these two may touch
    "restore_conversations",
    "unarchive_conversations",
    "memory:restore",
    "restore_role",
    "restore_project",
    "read_imported",
    "stated",
    "memory:forget_topic",
    "memory:clean_up",
    "memory:check_forgotten",
    "send",
    "memory:add_boundary",
    "memory:new_document",
    "usage_plan",
    "usage_limits",
    "settings_theme",
    "account_set_password",  # those who have one are led to its change
    "end_other_sessions",
]
PUBLIC = ["healthz", "livez", "readyz", "metrics", "account_deleted", "docs", "docs_page", "docs_source", "strip_slash"]
STREAMED = ["export"]
"""tests/chat/importing/test_pages.py checks the contents of Bob's own."""
RECOVERY_CODES = ["mfa_view_recovery_codes", "mfa_download_recovery_codes"]
"""Allauth's; tests/accounts/test_two_factor.py checks that Bob, who has none, sees none."""


def named_addresses() -> Iterator[str]:
    """Every named URL of Recall's own apps."""
    for pattern in get_resolver().url_patterns:
        if isinstance(pattern, URLPattern):
            yield pattern.name or str(pattern.pattern)
        elif isinstance(pattern, URLResolver) and getattr(pattern.urlconf_module, "__name__", "").startswith(OURS):
            space = f"{pattern.namespace}:" if pattern.namespace else ""
            yield from (f"{space}{inner.name}" for inner in pattern.url_patterns if isinstance(inner, URLPattern))


def test_every_address_of_recall_is_in_the_table() -> None:
    assert set(named_addresses()) == {*HERS, *OWN_PAGES, *OWN_POSTS, *PUBLIC, *STREAMED, *RECOVERY_CODES}


def rows() -> dict[str, Any]:
    """Everything of Alice's that could be changed."""
    models = (
        Conversation, Message, Segment, Fact, ReviewAction, Document, Boundary, LibrarianRun, Receipt, Episode, Upload,
        ImportJob, ApiKey, Role, Project, Attachment, Tombstone,
    )  # fmt: skip
    return {model.__name__: list(model.objects.order_by("pk").values()) for model in models}


def test_bob_gets_nothing_and_changes_nothing_of_hers(hers: Hers, bob: User, client: Client) -> None:
    before = rows()
    client.force_login(bob)
    fields = {"statement": "stolen", "text": "stolen", "title": "stolen", "number": 1, "started_from": 1, "revision": 1}
    place = {"path": hers.document.path}
    fields |= {**place, "to": "/stolen", "tags": "stolen", "expected": 1}
    fields |= {"fact": [hers.fact.pk], "into": hers.fact.pk, "verb": "reject", "rule": "never"}
    for name, (method, arguments) in HERS.items():
        address = reverse(name, kwargs=arguments(hers))
        for headers in ({}, {"HX-Request": "true"}):
            response = getattr(client, method)(address, fields if method == "post" else place, headers=headers)
            assert response.status_code == 404, name
            assert SECRET not in response.content.decode(), name
        assert rows() == before, name


def test_a_visitor_is_sent_to_the_sign_in_page(hers: Hers, client: Client) -> None:
    for name in [*HERS, *OWN_PAGES[1:], *OWN_POSTS, *STREAMED, *RECOVERY_CODES]:
        arguments = HERS[name][1](hers) if name in HERS else {}
        method = HERS[name][0] if name in HERS else "post" if name in OWN_POSTS else "get"
        response = getattr(client, method)(reverse(name, kwargs=arguments))
        assert response.status_code in (302, 401, 403), name
        assert SECRET not in response.content.decode(), name


def test_bobs_own_pages_show_nothing_of_alices(hers: Hers, bob: User, client: Client) -> None:
    client.force_login(bob)
    for name in OWN_PAGES:
        for query in ({}, {"current": str(hers.conversation.pk)}):
            response = client.get(reverse(name), query, follow=True)
            assert response.status_code == 200, name
            assert SECRET not in response.content.decode(), name


def test_what_alice_is_shown_is_not_kept_for_whoever_uses_the_browser_next(alice: User, client: Client) -> None:
    client.force_login(alice)
    for name in [*OWN_PAGES, *STREAMED, "account_email", "account_logout", "mfa_activate_totp", "mfa_list_webauthn"]:
        assert "no-cache" in client.get(reverse(name)).get("Cache-Control", ""), name


def test_alice_finds_her_own_secret(hers: Hers, alice: User, client: Client) -> None:
    client.force_login(alice)
    for name in (
        "conversation",
        "conversation_messages",
        "receipt",
        "memory:versions",
        "memory:document",
        "memory:story",
    ):
        assert SECRET in client.get(reverse(name, kwargs=HERS[name][1](hers))).content.decode(), name
    for name in ("memory:review", "memory:about", "new", "memory:timeline", "memory:documents"):
        assert SECRET in client.get(reverse(name)).content.decode(), name


def test_the_admin_is_for_staff_with_permission_only(hers: Hers, bob: User, charlie: User, client: Client) -> None:
    address = reverse("admin:memory_fact_changelist")
    client.force_login(bob)
    assert client.get(address).status_code == 302
    client.force_login(charlie)
    assert client.get(address).status_code == 403, "staff without a permission sees no memories"


def test_the_model_gets_nothing_of_alices_for_bobs_question(hers: Hers, bob: User) -> None:
    from memory.documents.profile import profile_lines
    from memory.retrieval.recall import retrieve

    Fact.objects.filter(pk=hers.fact.pk).update(status="active", key="user/name")
    everyones = list(Boundary.objects.filter(user=None))
    with as_user(bob.pk):
        found = retrieve(bob, SECRET, now=timezone.now())
        assert (found.kept, found.cut, profile_lines(bob)) == ((), (), [])
        assert list(Boundary.for_prompt(bob)) == everyones


def test_bobs_tools_find_nothing_of_alices(hers: Hers, bob: User) -> None:
    from chat.tools.registry import run_tool
    from chat.turn import AcceptedTurn, ToolUse

    conversation = Conversation.objects.create(user=bob)
    message = Message(user=bob, conversation=conversation, seq=1, turn=1, text="Find it", pk=10**9)
    opened = AcceptedTurn(conversation, message, message, created=True, is_duplicate=False)
    for name, given in (
        ("search_knowledge", {"query": SECRET}),
        ("search_conversation", {"query": SECRET}),
        ("read_document", {"path": "/profile/identity"}),
    ):
        call = ToolUse("1", name, given)
        with as_user(bob.pk):
            run_tool(opened, call)
        assert SECRET not in call.result


def test_alices_tools_find_her_own(hers: Hers, alice: User) -> None:
    from chat.tools.registry import run_tool
    from chat.turn import AcceptedTurn, ToolUse

    Fact.objects.filter(pk=hers.fact.pk).update(status="active")
    other = Message(user=alice, conversation=hers.conversation, seq=9, turn=9, text="Find it", pk=10**9)
    opened = AcceptedTurn(hers.conversation, other, other, created=False, is_duplicate=False)
    for name, given in (
        ("search_knowledge", {"query": SECRET}),
        ("search_conversation", {"query": SECRET}),
        ("read_document", {"path": "/profile/identity"}),
    ):
        call = ToolUse("1", name, given)
        with as_user(alice.pk):
            run_tool(opened, call)
        assert SECRET in call.result, name


@pytest.mark.django_db(transaction=True)
def test_bob_cannot_send_into_alices_conversation_over_http(hers: Hers, bob: User, client: Client) -> None:
    client.force_login(bob)
    before = rows()
    fields = {"client_id": str(uuid4()), "conversation": str(hers.conversation.pk), "text": "stolen"}
    assert client.post(reverse("send"), fields).status_code == 404
    assert rows() == before


def test_no_list_of_the_admin_opens_without_its_permission(hers: Hers, charlie: User, client: Client) -> None:
    autodiscover()
    client.force_login(charlie)
    for model in site._registry:
        address = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
        assert client.get(address).status_code == 403, address
