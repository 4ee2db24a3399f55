"""Users write, change and delete roles; a conversation's prompt follows its role."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from budget.planning.plan import Section
from chat.conversations.options import CACHE_NOTICE
from chat.models import Conversation, Role
from chat.projects import roles
from chat.projects.roles import EXAMPLES, NameTakenError
from chat.projects.undo_tokens import UndoExpiredError, sign_undo
from chat.prompt.assemble import assemble_prompt
from chat.protocol import ConversationOptions
from chat.turns.intake import accept_message
from tests.chat.long_talk import ask, begin, numbered

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("offline_server")]

TEACHER = "Patient Portuguese teacher"


@pytest.fixture
def her(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def notices(page: str) -> str:
    return page.split('id="notices" role="status">')[1].split("</div>")[0]


def system_of(request: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in request["system"])


# In the prompt ---------------------------------------------------------------------------------------------------


def test_the_prompt_says_the_roles_name_and_what_it_tells(alice: User) -> None:
    role = roles.create(alice, TEACHER, "Correct two mistakes at most.")
    conversation = begin(alice, numbered(1))
    Conversation.objects.filter(pk=conversation.pk).update(role=role)

    _, compiled = ask(Conversation.objects.get(pk=conversation.pk), "Bom dia!")

    assert f"# Your role in this conversation\n{TEACHER}\nCorrect two mistakes at most." in system_of(compiled.request)
    (piece,) = [piece for piece in compiled.fitted.kept if piece.section == Section.ROLE]
    assert (piece.ref, piece.label) == (f"role:{role.pk}", TEACHER)


def test_an_edited_role_is_told_in_the_next_answer(alice: User) -> None:
    role = roles.create(alice, TEACHER, "Correct two mistakes at most.")
    conversation = begin(alice, numbered(1))
    Conversation.objects.filter(pk=conversation.pk).update(role=role)

    roles.edit(role, TEACHER, "Correct nothing.")

    _, compiled = ask(Conversation.objects.get(pk=conversation.pk), "Obrigada!")
    assert "Correct nothing." in system_of(compiled.request)


# Their page ------------------------------------------------------------------------------------------------------


def test_examples_are_offered_and_not_inserted(her: Client, alice: User) -> None:
    page = her.get(reverse("roles")).content.decode()

    assert all(example.name in page for example in EXAMPLES)
    assert not Role.objects.for_user(alice).exists()


def test_an_example_is_copied_by_its_button(her: Client, alice: User) -> None:
    example = EXAMPLES[0]
    fields = {"name": example.name, "instructions": example.instructions}

    page = her.post(reverse("roles"), fields, follow=True).content.decode()

    role = Role.objects.for_user(alice).get()
    assert (role.name, role.instructions, role.version) == (example.name, example.instructions, 1)
    assert EXAMPLES[1].name in page
    assert len(re.findall(f'value="{example.name}"', page)) == 1, "only where it is edited: it is offered no more"


def test_each_change_counts_the_version_up_and_no_change_does_not(her: Client, alice: User) -> None:
    role = roles.create(alice, TEACHER, "Be patient.")
    address = reverse("role", args=[role.pk])

    for instructions in ("Be very patient.", "Be very patient.", "Be strict."):
        her.post(address, {"name": TEACHER, "instructions": instructions})

    role.refresh_from_db()
    assert (role.version, role.instructions) == (3, "Be strict.")


@pytest.mark.parametrize(
    ("fields", "sentence", "status"),
    [
        ({"name": "", "instructions": "x"}, "Enter a name.", 422),
        ({"name": "Critic", "instructions": " "}, "Enter instructions", 422),
        ({"name": "Critic", "instructions": "x" * 8_001}, "at most 8000 characters", 422),
        ({"name": f" {TEACHER} ", "instructions": "Another."}, "You already have a role called", 409),
    ],
)
def test_what_cannot_be_kept_is_said_and_stays_in_the_form(
    her: Client, alice: User, fields: dict[str, str], sentence: str, status: int
) -> None:
    roles.create(alice, TEACHER, "Be patient.")

    response = her.post(reverse("roles"), fields)

    assert (response.status_code, Role.objects.count()) == (status, 1)
    page = response.content.decode()
    assert sentence in page
    assert fields["name"] in page


def test_two_people_may_have_a_role_of_the_same_name(alice: User, bob: User) -> None:
    roles.create(alice, TEACHER, "Hers.")
    roles.create(bob, TEACHER, "His.")

    with pytest.raises(NameTakenError):
        roles.create(bob, TEACHER, "His second.")


# Deleting --------------------------------------------------------------------------------------------------------


def test_a_deleted_role_comes_back_as_it_was_with_its_conversations(her: Client, alice: User) -> None:
    role = roles.edit(roles.create(alice, TEACHER, "Be patient."), TEACHER, "Be strict.")
    hers = Conversation.objects.create(user=alice, role=role)
    page = her.post(reverse("delete_role", args=[role.pk])).content.decode()
    hers.refresh_from_db()
    assert hers.role is None
    assert not Role.objects.exists()

    token = re.search(r'name="token" value="([^"]+)"', page)
    assert token is not None
    her.post(reverse("restore_role"), {"token": token[1]})

    assert Conversation.objects.get(pk=hers.pk).role == role
    back = Role.objects.get()
    assert (back.pk, back.name, back.instructions, back.version) == (role.pk, TEACHER, "Be strict.", 2)


def test_a_role_given_meanwhile_is_not_taken_away_by_undoing(alice: User) -> None:
    role, other = roles.create(alice, TEACHER, "Be patient."), roles.create(alice, "Critic", "Be strict.")
    conversation = Conversation.objects.create(user=alice, role=role)
    token = roles.remove(role)
    Conversation.objects.filter(pk=conversation.pk).update(role=other)

    roles.restore(alice, token)

    conversation.refresh_from_db()
    assert conversation.role == other


def test_nobody_brings_back_what_is_anothers_or_was_never_there(alice: User, bob: User) -> None:
    token = roles.remove(roles.create(alice, TEACHER, "Be patient."))

    for user, given in (
        (bob, token),
        (alice, f"{token}x"),
        (alice, ""),
        (alice, sign_undo("project", alice, {"id": 1})),
    ):
        with pytest.raises(UndoExpiredError):
            roles.restore(user, given)
    assert not Role.objects.exists()
    roles.restore(alice, token)
    with pytest.raises(UndoExpiredError):
        roles.restore(alice, token)


def test_nothing_of_a_deleted_role_is_kept_in_the_session(her: Client, alice: User) -> None:
    role = roles.create(alice, TEACHER, "My secret way of teaching.")

    her.post(reverse("delete_role", args=[role.pk]))

    assert "secret way" not in str(dict(her.session.items()))


# Choosing it -----------------------------------------------------------------------------------------------------


def test_a_role_changed_in_mid_conversation_says_what_that_costs(her: Client, alice: User) -> None:
    role = roles.create(alice, TEACHER, "Be patient.")
    conversation = begin(alice, numbered(1))
    address = reverse("conversation_choices", args=[conversation.pk])

    page = her.post(address, {"role": role.pk}, follow=True).content.decode()
    again = her.post(address, {"role": role.pk}, follow=True).content.decode()

    conversation.refresh_from_db()
    assert conversation.role == role
    assert CACHE_NOTICE in notices(page)
    assert notices(again).strip() == "", "nothing was changed"
    assert f'href="{reverse("roles")}#role-{role.pk}"' in page


def test_another_persons_role_cannot_be_chosen(her: Client, alice: User, bob: User) -> None:
    his = roles.create(bob, TEACHER, "His.")
    conversation = Conversation.objects.create(user=alice)

    response = her.post(reverse("conversation_choices", args=[conversation.pk]), {"role": his.pk})

    assert response.status_code == 404
    conversation.refresh_from_db()
    assert conversation.role is None


def test_the_link_of_a_role_preselects_it_for_a_new_conversation(her: Client, alice: User) -> None:
    role = roles.create(alice, TEACHER, "Be patient.")

    page = her.get(reverse("new"), {"role": role.pk}).content.decode()

    assert f'<option value="{role.pk}" selected>{TEACHER}</option>' in page


def test_a_new_conversation_begins_in_the_role_that_was_chosen(alice: User) -> None:
    role = roles.create(alice, TEACHER, "Be patient.")

    opened = accept_message(alice, uuid4(), None, "Bom dia!", chosen=ConversationOptions(role=role.pk))

    assert TEACHER in system_of(assemble_prompt(opened).request)
