"""Permissions of the staff groups: each admin page for each group, allowed or forbidden, and what it shows."""

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.admin import autodiscover, site
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.urls import reverse

from accounts.api import keys
from accounts.models import ApiKey, IdempotentRequest, User
from accounts.staff import groups
from accounts.staff.groups import GROUPS
from accounts.staff.logged_admin import RecordAdmin
from budget.models import Price
from chat.models import Attachment, Compaction, ImportPart, Project, Role
from memory.models import Boundary, Fact, FactLink, KindPolicy, LibrarianRun, PersonalIndex
from tests.test_isolation import SECRET, Hers, hers

__all__ = ["hers"]  # the fixture: one row of everything Alice owns

type Staff = Callable[[str], Client]

pytestmark = pytest.mark.django_db

REVIEWED = {"memory.fact", "memory.factlink", "memory.kindpolicy", "memory.reviewaction", "memory.boundary"}
OPERATED = {
    "accounts.user", "accounts.apikey", "memory.librarianrun", "memory.upload", "chat.compaction", "chat.importjob",
    "memory.consolidation", "memory.personalindex", "chat.importpart", "accounts.idempotentrequest",
    "budget.price", "budget.usageday", "budget.limit", "budget.calibration",
}  # fmt: skip
autodiscover()
PAGES = {f"{model._meta.app_label}.{model._meta.model_name}" for model in site._registry}
ALLOWED = {"nobody": set(), "reviewer": REVIEWED, "operator": OPERATED, "superuser": PAGES}
"""Group → lists that open; all others are forbidden."""


@pytest.fixture
def staff(charlie: User, client: Client) -> Staff:
    """`staff("reviewer")`: Charlie as a member of that group; "nobody": without a group; "superuser"."""

    def as_member(name: str) -> Client:
        charlie.is_superuser = name == "superuser"
        charlie.save()
        charlie.groups.set(Group.objects.filter(name=name))
        client.force_login(charlie)
        return client

    return as_member


def address(page: str, what: str = "changelist", *arguments: Any) -> str:
    return reverse(f"admin:{page.replace('.', '_')}_{what}", args=arguments)


@pytest.fixture
def rows(hers: Hers, alice: User) -> dict[str, Any]:
    """One row, Alice's or without an owner, of each kind that a group may open."""
    key, _ = keys.create_key(alice, "Notes", ["memory:read"])
    failed = Compaction.objects.create(user=alice, conversation=hers.conversation, reason="asked", state="failed")
    return {
        "accounts.user": alice,
        "accounts.apikey": key,
        "memory.librarianrun": LibrarianRun.objects.get(),
        "memory.upload": hers.upload,
        "chat.compaction": failed,
        "chat.importjob": hers.job,
        "chat.importpart": ImportPart.objects.create(user=alice, job=hers.job, number=0, content=SECRET.encode()),
        "accounts.idempotentrequest": IdempotentRequest.objects.create(user=alice, key=SECRET, body=SECRET.encode()),
        "memory.personalindex": PersonalIndex.objects.create(user=alice, rows=1, common_words={SECRET: 1}),
        "memory.kindpolicy": KindPolicy.objects.create(user=alice, subject="goal", rule="never"),
        "memory.factlink": FactLink.objects.create(user=alice, from_fact=hers.fact, to_fact=hers.action.fact),
        "memory.fact": hers.fact,
        "memory.reviewaction": hers.action,
        "memory.boundary": hers.boundary,
        "budget.price": Price.objects.first(),
    }


# The table -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ALLOWED)
def test_which_lists_open(staff: Staff, name: str) -> None:
    client = staff(name)

    assert {page: client.get(address(page)).status_code for page in PAGES} == {
        page: 200 if page in ALLOWED[name] else 403 for page in PAGES
    }


def test_every_list_is_searched_by_whatever_is_typed(staff: Staff, hers: Hers) -> None:
    client = staff("superuser")
    for page in PAGES:
        for asked in ("alice@", str(hers.conversation.pk), "9" * 40, "\x00%"):
            assert client.get(address(page), {"q": asked, "o": "1.-2"}).status_code == 200, (page, asked)


def test_every_model_and_right_that_the_table_names_exists() -> None:
    for rights in GROUPS.values():
        for page in rights:
            assert apps.get_model(page) in site._registry, page
    assert {page for rights in GROUPS.values() for page in rights} == REVIEWED | OPERATED


def test_the_groups_have_exactly_what_the_table_says() -> None:
    for name, models in GROUPS.items():
        wanted = {
            f"{page.split('.')[0]}.{right}_{page.split('.')[1]}" for page, given in models.items() for right in given
        }
        found = Permission.objects.filter(group__name=name).select_related("content_type")
        assert {f"{one.content_type.app_label}.{one.codename}" for one in found} == wanted


def test_after_a_migration_they_have_it_again() -> None:
    group = Group.objects.get(name="reviewer")
    group.permissions.set(Permission.objects.filter(codename__in=["delete_user", "view_receipt", "add_fact"]))

    for app in apps.get_app_configs():
        groups.refresh(app)

    test_the_groups_have_exactly_what_the_table_says()


# What they see, and what not -------------------------------------------------------------------------------------


def test_an_operator_sees_no_text_of_a_memory(staff: Staff, rows: dict[str, Any]) -> None:
    client = staff("operator")
    for page, row in rows.items():
        if page in OPERATED - {"accounts.apikey"}:  # a key is recognized by its name and its first characters
            for shown in (address(page), address(page, "change", row.pk), address(page, "history", row.pk)):
                response = client.get(shown)
                assert response.status_code == 200, shown
                assert SECRET not in response.content.decode(), shown


HIDDEN = [
    ("memory.upload", "name__startswith"),
    ("memory.upload", "folder__icontains"),
    ("memory.upload", "document__path__startswith"),
    ("memory.upload", "content__contains"),
    ("chat.importjob", "name__startswith"),
    ("chat.importjob", "counts__has_key"),
    ("chat.compaction", "conversation__title__startswith"),
    ("memory.librarianrun", "conversation__title__startswith"),
    ("accounts.apikey", "digest__startswith"),
    ("accounts.user", "password__startswith"),
]
"""Lookups a URL might use, on columns that no list shows to operators."""


@pytest.mark.parametrize(("page", "lookup"), HIDDEN, ids=str)
@pytest.mark.parametrize("name", ["operator", "superuser"])
def test_no_hidden_column_is_read_letter_by_letter_through_an_address(
    staff: Staff, rows: dict[str, Any], name: str, page: str, lookup: str
) -> None:
    client = staff(name)
    for guess in ("S", "x"):
        assert client.get(address(page), {lookup: guess}).status_code == 400, guess


def test_no_list_searches_sorts_or_filters_by_what_is_personal() -> None:
    lists = [shown for shown in site._registry.values() if isinstance(shown, RecordAdmin) and shown.personal]
    assert lists
    for shown in lists:
        asked = {*shown.found_by, *shown.search_fields, *shown.sortable_by, *shown.list_filter, shown.date_hierarchy}
        asked |= {str(column).lstrip("-") for column in shown.ordering}
        assert not asked & set(shown.personal), shown


def test_a_reviewer_reads_what_is_to_be_decided_and_no_account(staff: Staff, rows: dict[str, Any]) -> None:
    client = staff("reviewer")

    assert SECRET in client.get(reverse("admin:memory_fact_queue")).content.decode()
    for page, row in rows.items():
        assert client.get(address(page, "change", row.pk)).status_code == (200 if page in REVIEWED else 403), page


def test_an_operator_has_no_queue(staff: Staff) -> None:
    assert staff("operator").get(reverse("admin:memory_fact_queue")).status_code == 403


def test_staff_without_a_group_find_nothing_on_the_first_page(staff: Staff) -> None:
    page = staff("nobody").get("/admin/").content.decode()

    assert "/admin/memory/" not in page
    assert "/admin/accounts/" not in page


def test_no_page_shows_a_password_or_a_keys_digest(staff: Staff, rows: dict[str, Any], alice: User) -> None:
    key = rows["accounts.apikey"]
    for name in ("operator", "superuser"):
        client = staff(name)
        shown = client.get(address("accounts.apikey", "change", key.pk)).content.decode()
        assert key.prefix in shown
        assert key.digest not in shown + client.get(address("accounts.apikey")).content.decode()
    for text in ("algorithm", "salt", alice.password):
        assert text not in staff("operator").get(address("accounts.user", "change", alice.pk)).content.decode()


def test_an_operator_changes_no_account_and_makes_nobody_a_superuser(staff: Staff, alice: User, charlie: User) -> None:
    client = staff("operator")

    assert client.post(address("accounts.user", "change", charlie.pk), {"is_superuser": "on"}).status_code == 403
    assert client.get(address("auth.group")).status_code == 403
    assert client.get(f"/admin/accounts/user/{alice.pk}/password/").status_code == 403


def test_who_may_change_accounts_cannot_raise_themselves(staff: Staff, alice: User, charlie: User) -> None:
    charlie.user_permissions.set(Permission.objects.filter(codename__in=["view_user", "change_user"]))
    root = User.objects.create_superuser("root@example.org")
    client = staff("nobody")

    client.post(
        address("accounts.user", "change", charlie.pk),
        {"email": charlie.email, "time_zone": "UTC", "language": "english", "is_active": "on", "is_superuser": "on"},
    )
    charlie.refresh_from_db()
    assert charlie.time_zone == "UTC", "what is theirs to change was saved"
    assert not charlie.is_superuser
    assert client.post(f"/admin/accounts/user/{root.pk}/password/", {}).status_code == 403


def test_who_may_change_groups_cannot_raise_their_own(staff: Staff, charlie: User) -> None:
    client = staff("reviewer")
    charlie.user_permissions.set(Permission.objects.filter(content_type__app_label="auth"))
    group = Group.objects.get(name="reviewer")
    fields = {"name": "reviewer", "permissions": [Permission.objects.get(codename="view_message").pk]}

    assert client.post(address("auth.group", "change", group.pk), fields).status_code == 403
    assert client.post(address("auth.group", "add"), {**fields, "name": "readers"}).status_code == 403
    assert client.post(address("auth.group", "delete", group.pk), {"post": "yes"}).status_code == 403
    assert not group.permissions.filter(codename="view_message").exists()
    assert client.get(address("auth.group", "change", group.pk)).status_code == 200, "they may view it"


@pytest.mark.parametrize("who", ["alice", "other staff"])
def test_who_may_change_accounts_cannot_sign_in_to_one(staff: Staff, alice: User, charlie: User, who: str) -> None:
    charlie.user_permissions.set(Permission.objects.filter(codename__in=["view_user", "change_user"]))
    client, target = staff("nobody"), alice
    User.objects.filter(pk=alice.pk).update(is_staff=who != "alice")
    before = User.objects.get(pk=target.pk)
    secret = "another horse battery staple"

    fields = {"password1": secret, "password2": secret, "usable_password": "true"}
    assert client.post(f"/admin/accounts/user/{target.pk}/password/", fields).status_code == 403
    fields = {"email": "mine@example.org", "time_zone": "UTC", "language": "english", "is_active": "on"}
    assert client.post(address("accounts.user", "change", target.pk), fields).status_code == 302

    after = User.objects.get(pk=target.pk)
    assert after.time_zone == "UTC"
    assert (after.password, after.email) == (before.password, before.email), "a link to set a password goes there"


def test_who_may_delete_accounts_deletes_no_superuser(staff: Staff, charlie: User) -> None:
    charlie.user_permissions.set(Permission.objects.filter(codename__in=["view_user", "delete_user"]))
    root = User.objects.create_superuser("root@example.org")
    client = staff("nobody")

    assert client.post(address("accounts.user", "delete", root.pk), {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [root.pk], "post": "yes"}
    client.post(address("accounts.user"), chosen)
    assert User.objects.filter(pk=root.pk).exists()


# What is only to be looked at, whoever looks ---------------------------------------------------------------------


def test_conversations_and_what_hangs_on_them_are_changed_and_deleted_by_nobody(
    staff: Staff, hers: Hers, alice: User
) -> None:
    client = staff("superuser")
    content = Attachment.objects.create(
        user=alice, kind="image", name="a.png", media_type="image/png", size=3, content=b"xyzzy-bytes",
        text="xyzzy-read", content_hash="0" * 64,
    )  # fmt: skip
    project = Project.objects.create(user=alice, name="Garden", path="/projects/garden")
    role = Role.objects.create(user=alice, name="Teacher", instructions="Be patient.")
    for row in (hers.conversation, hers.question, hers.segment, hers.receipt, content, project, role, hers.document):
        page = f"{row._meta.app_label}.{row._meta.model_name}"
        shown = client.get(address(page, "change", row.pk))
        assert shown.status_code == 200, page
        assert 'name="_save"' not in shown.content.decode(), page
        assert client.post(address(page, "change", row.pk), {"title": "Forged", "text": "Forged"}).status_code == 403
        assert client.post(address(page, "delete", row.pk), {"post": "yes"}).status_code == 403, page
        assert client.get(address(page, "add")).status_code == 403, page
    assert "xyzzy" not in client.get(address("chat.attachment", "change", content.pk)).content.decode()


def test_rules_for_everybody_are_written_here_and_a_persons_own_are_not(staff: Staff, hers: Hers, bob: User) -> None:
    client = staff("superuser")
    client.post(address("memory.boundary", "add"), {"text": "Be kind.", "active": "on", "user": bob.pk})
    made = Boundary.objects.latest("pk")
    assert (made.text, made.user) == ("Be kind.", None)

    client.post(address("memory.boundary", "change", made.pk), {"text": "Be kinder.", "active": "on"})
    refused = client.post(address("memory.boundary", "change", hers.boundary.pk), {"text": "Forged."})

    made.refresh_from_db()
    assert made.text == "Be kinder."
    assert refused.status_code == 403
    assert client.post(address("memory.boundary", "delete", hers.boundary.pk), {"post": "yes"}).status_code == 403


# What they do ----------------------------------------------------------------------------------------------------


def act(client: Client, page: str, action: str, row: Any) -> str:
    return client.post(address(page), {"action": action, "_selected_action": [row.pk]}, follow=True).content.decode()


def test_an_operator_starts_again_what_failed(staff: Staff, rows: dict[str, Any], queued: list[Any]) -> None:
    client = staff("operator")
    for page in ("memory.librarianrun", "chat.compaction", "memory.upload"):
        row = rows[page]
        type(row)._default_manager.filter(pk=row.pk).update(state="failed", attempts=5, error="no model")
        assert "1 started again" in act(client, page, "retry", row), page
        row.refresh_from_db()
        assert (row.state in ("pending", "waiting"), row.attempts, row.error) == (True, 0, ""), page
        assert "0 started again" in act(client, page, "retry", row), page


def test_a_compaction_is_not_started_beside_another_one(staff: Staff, rows: dict[str, Any]) -> None:
    failed = rows["chat.compaction"]
    Compaction.objects.create(user=failed.user, conversation=failed.conversation, reason="asked")

    assert "0 started again" in act(staff("operator"), "chat.compaction", "retry", failed)


def test_an_import_that_waits_goes_on_at_once_and_one_that_ended_does_not(staff: Staff, rows: dict[str, Any]) -> None:
    client, job = staff("operator"), rows["chat.importjob"]

    assert "1 started again" in act(client, "chat.importjob", "retry", job)
    assert "1 stopped." in act(client, "chat.importjob", "stop", job)
    assert "0 started again. The others had ended" in act(client, "chat.importjob", "retry", job)


def test_an_operator_revokes_a_key_and_makes_none(staff: Staff, alice: User) -> None:
    key, secret = keys.create_key(alice, "Notes", ["memory:read"])
    client = staff("operator")

    assert "1 revoked" in act(client, "accounts.apikey", "revoke", key)
    assert keys.find_active_key(secret) is None
    assert client.get(address("accounts.apikey", "add")).status_code == 403


def test_who_may_only_look_starts_nothing(staff: Staff, charlie: User, rows: dict[str, Any]) -> None:
    charlie.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client = staff("nobody")

    act(client, "chat.compaction", "retry", rows["chat.compaction"])
    act(client, "accounts.apikey", "revoke", rows["accounts.apikey"])

    assert Compaction.objects.get().state == "failed"
    assert ApiKey.objects.get(pk=rows["accounts.apikey"].pk).revoked_at is None


def test_a_reviewer_decides_and_the_owner_sees_that_they_looked(staff: Staff, hers: Hers, alice: User) -> None:
    client = staff("reviewer")
    client.post(reverse("admin:memory_fact_queue_decide"), {"one": f"reject:{hers.fact.pk}"})

    assert Fact.objects.get(pk=hers.fact.pk).status == "rejected"
    client.force_login(alice)
    client.get(reverse("admin:memory_fact_queue"))
    assert client.get(reverse("memory:access_log")).status_code == 200


def test_a_persons_use_of_this_month_stands_beside_them(staff: Staff, alice: User) -> None:
    from datetime import timedelta
    from decimal import Decimal

    from django.utils import timezone

    from budget.models import UsageDay

    first = timezone.localdate().replace(day=1)
    for day, model in ((first, "a"), (first, "b"), (first - timedelta(days=1), "a")):
        UsageDay.objects.create(user=alice, day=day, model=model, turns=3, input_tokens=1_000, cost=Decimal("1.25"))

    page = staff("operator").get(address("accounts.user", "change", alice.pk)).content.decode()

    for figure in (">6<", "2,000", "$2.50"):
        assert figure in page


def test_a_new_price_is_saved_as_new_and_the_list_says_until_when_the_old_one_held(staff: Staff) -> None:
    old = Price.objects.filter(model="claude-opus-5").get()
    fields = {"model": old.model, "valid_from": "2027-02-01", "from_input_tokens": 0, "input": "6", "output": "30"}
    fields |= {"write_5m": "7.5", "write_1h": "12", "read": "0.6", "_saveasnew": "Save as new"}
    client = staff("operator")

    client.post(address("budget.price", "change", old.pk), fields)

    assert Price.objects.filter(model=old.model).count() == 2
    assert Price.objects.get(pk=old.pk).input == old.input
    assert "Feb. 1, 2027" in client.get(address("budget.price") + "?q=claude-opus-5").content.decode()
