"""A project is a folder with instructions. It is renamed, archived and deleted; its contents move along, or stay."""

import re
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from accounts.models import User
from chat.conversations.options import OptionNotFoundError, initial_fields
from chat.models import Conversation, Project
from chat.projects import projects, roles
from chat.projects.undo_tokens import UndoExpiredError
from chat.protocol import ConversationOptions
from chat.turn import TurnRejectedError
from chat.turns.intake import accept_message
from memory.documents import revisions, tree
from memory.forgetting.execute import forget
from memory.forgetting.targets import Target
from memory.models import Document, Fact, Forgetting, Upload
from tests.chat.long_talk import begin, numbered

pytestmark = pytest.mark.django_db


@pytest.fixture
def her(client: Client, alice: User) -> Client:
    client.force_login(alice)
    return client


def document(user: User, path: str) -> Document:
    return revisions.save(user, path, "Roses along the wall.", "user", started_from=0)


def paths(user: User) -> list[str]:
    return sorted(Document.objects.for_user(user).filter(path__under="/projects").values_list("path", flat=True))


# Its folder ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "folders"),
    [
        (["Garden"], ["/projects/garden"]),
        (["My Garden!", "my garden"], ["/projects/my-garden", "/projects/my-garden-2"]),
        (["Jardim à beira-mar"], ["/projects/jardim-à-beira-mar"]),
        (["庭"], ["/projects/庭"]),
        (["!!!", "???"], ["/projects/project", "/projects/project-2"]),
        (["a/b"], ["/projects/ab"]),
    ],
)
def test_a_project_gets_a_folder_of_its_own_named_after_it(alice: User, names: list[str], folders: list[str]) -> None:
    assert [projects.create(alice, name).path for name in names] == folders


def test_a_folder_that_has_no_project_yet_is_taken_with_what_is_in_it(her: Client, alice: User) -> None:
    document(alice, "/projects/Garden/plan")
    page = her.get(reverse("projects")).content.decode()
    assert "Folders without a project" in page

    her.post(reverse("projects"), {"name": "garden"})

    assert Project.objects.get().path == "/projects/Garden"
    assert projects.create(alice, "Garden").path == "/projects/garden-2"
    assert projects.folders_without_project(alice) == []


def test_two_people_have_folders_of_the_same_name(alice: User, bob: User) -> None:
    assert projects.create(alice, "Garden").path == projects.create(bob, "Garden").path


def test_another_name_moves_the_folder_the_conversations_and_the_files_on_their_way(her: Client, alice: User) -> None:
    project = projects.create(alice, "Garden", "Be a gardener.")
    document(alice, "/projects/garden/beds/roses")
    document(alice, "/projects/garden2/other")
    inside, outside = (Conversation.objects.create(user=alice, scope=scope) for scope in (project.path, "/projects/x"))
    waiting = Upload.objects.create(user=alice, name="a.txt", size=1, folder=project.path, content=b"a")

    her.post(reverse("project", args=[project.pk]), {"name": "Allotment", "instructions": "Be a gardener."})

    for row in (project, inside, outside, waiting):
        row.refresh_from_db()
    assert (project.name, project.path, inside.scope, waiting.folder) == ("Allotment", *["/projects/allotment"] * 3)
    assert outside.scope == "/projects/x"
    assert paths(alice) == ["/projects/allotment/beds/roses", "/projects/garden2/other"]


def test_a_project_without_documents_is_renamed_as_well(alice: User) -> None:
    project = projects.create(alice, "Garden")
    conversation = Conversation.objects.create(user=alice, scope=project.path)

    projects.update(project, "Allotment", "", only_project=False)

    conversation.refresh_from_db()
    assert project.path == conversation.scope == "/projects/allotment"


def test_a_rename_never_mixes_two_folders(alice: User) -> None:
    project = projects.create(alice, "Garden")
    document(alice, "/projects/garden/plan")
    document(alice, "/projects/Allotment/plan")

    projects.update(project, "Allotment", "", only_project=False)

    assert paths(alice) == ["/projects/Allotment/plan", "/projects/allotment-2/plan"]


def test_a_change_of_case_alone_moves_nothing(alice: User) -> None:
    project = projects.create(alice, "garden")

    assert projects.update(project, "Garden", "", only_project=False).path == "/projects/garden"


def test_who_moves_the_folder_among_the_documents_moves_the_project(her: Client, alice: User, bob: User) -> None:
    project, his = projects.create(alice, "Garden"), projects.create(bob, "Garden")
    conversation = Conversation.objects.create(user=alice, scope=project.path)
    document(alice, "/projects/garden/plan")

    her.post(reverse("memory:move"), {"path": "/projects/garden", "to": "/reference/old/garden"})

    for row in (project, his, conversation):
        row.refresh_from_db()
    assert project.path == conversation.scope == "/reference/old/garden"
    assert his.path == "/projects/garden"
    assert "/reference/old/garden" in her.get(reverse("project", args=[project.pk])).content.decode()


def test_a_folder_moved_into_another_projects_leaves_both_projects_where_they_are(alice: User) -> None:
    garden, house = projects.create(alice, "Garden"), projects.create(alice, "House")
    document(alice, "/projects/garden/plan")

    tree.move(alice, "/projects/garden", "/projects/house")

    garden.refresh_from_db()
    house.refresh_from_db()
    assert (garden.path, house.path) == ("/projects/garden", "/projects/house")
    assert paths(alice) == ["/projects/house/plan"]


# Its page --------------------------------------------------------------------------------------------------------


def test_the_first_page_teaches_and_makes_the_first_project(her: Client, alice: User) -> None:
    assert "Create your first project" in her.get(reverse("projects")).content.decode()

    fields = {"name": "Garden", "instructions": "Be a gardener.", "only_project": "true"}
    page = her.post(reverse("projects"), fields, follow=True).content.decode()

    project = Project.objects.get()
    assert (project.user, project.instructions, project.only_project) == (alice, "Be a gardener.", True)
    assert f'href="{reverse("new")}?project={project.pk}"' in page


@pytest.mark.parametrize(("fields", "sentence"), [({}, "Enter a name."), ({"name": "x" * 81}, "at most 80")])
def test_what_cannot_be_kept_is_said(her: Client, fields: dict[str, str], sentence: str) -> None:
    response = her.post(reverse("projects"), fields)

    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert not Project.objects.exists()


def test_its_page_lists_its_documents_and_conversations_and_no_others(her: Client, alice: User, bob: User) -> None:
    project = projects.create(alice, "Garden")
    document(alice, "/projects/garden/beds/roses")
    document(alice, "/projects/garden2/tulips")
    for user, scope, title in (
        (alice, project.path, "Of roses"),
        (alice, "", "Of the weather"),
        (bob, project.path, "Of Bob"),
    ):
        Conversation.objects.create(user=user, scope=scope, title=title)

    page = her.get(reverse("project", args=[project.pk])).content.decode()

    assert re.search(r'>roses</a></p><p class="muted">beds · ', page)
    assert ">Open folder</a>" in page
    assert "Of roses" in page
    assert not re.search("tulips|Of the weather|Of Bob", page)


def test_files_are_uploaded_into_its_folder(
    her: Client, alice: User, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    project = projects.create(alice, "Garden")
    files = [SimpleUploadedFile("roses.txt", b"Roses want sun."), SimpleUploadedFile("rose.png", b"\x89PNG")]

    with django_capture_on_commit_callbacks(execute=True):
        address = reverse("upload_to_project", args=[project.pk])
        page = her.post(address, {"files": files}, follow=True).content.decode()

    upload = Upload.objects.get()
    assert (upload.user, upload.name, upload.folder) == (alice, "roses.txt", "/projects/garden")
    assert [args for task, args in queued if task.endswith("read_upload")] == [(upload.pk,)]
    assert "rose.png:" in page, "what is not taken says why"


# Put away, deleted, brought back ---------------------------------------------------------------------------------


def test_a_project_put_away_is_offered_no_more_and_keeps_what_it_has(her: Client, alice: User) -> None:
    project = projects.create(alice, "Garden")
    conversation = Conversation.objects.create(user=alice, scope=project.path)
    address = reverse("archive_project", args=[project.pk])

    her.post(address)

    assert f'<option value="{project.pk}"' not in her.get(reverse("new")).content.decode()
    page = her.get(reverse("conversation", args=[conversation.pk])).content.decode()
    assert f'<option value="{project.pk}" selected' in page, "a conversation that has it keeps it when it is changed"
    her.post(address, {"back": "1"})
    assert f'<option value="{project.pk}"' in her.get(reverse("new")).content.decode()


def test_deleting_leaves_documents_and_conversations_and_can_be_undone(her: Client, alice: User) -> None:
    project = projects.create(alice, "Garden", "Be a gardener.", only_project=True)
    document(alice, "/projects/garden/plan")
    only = Conversation.objects.create(user=alice, scope=project.path, only_project=True)
    first = Conversation.objects.create(user=alice, scope=project.path)

    page = her.post(reverse("delete_project", args=[project.pk])).content.decode()

    only.refresh_from_db()
    assert (only.scope, only.only_project) == ("", False)
    assert paths(alice) == ["/projects/garden/plan"]
    assert not Project.objects.exists()
    token = re.search(r'name="token" value="([^"]+)"', page)
    assert token is not None
    her.post(reverse("restore_project"), {"token": token[1]})
    back = Project.objects.get()
    assert (back.pk, back.path, back.instructions, back.only_project) == (
        project.pk,
        project.path,
        "Be a gardener.",
        True,
    )
    for conversation, was_only in ((only, True), (first, False)):
        conversation.refresh_from_db()
        assert (conversation.scope, conversation.only_project) == (project.path, was_only)


def test_undoing_is_refused_where_the_folder_has_another_project_or_it_is_anothers(alice: User, bob: User) -> None:
    token = projects.remove(projects.create(alice, "Garden"))
    with pytest.raises(UndoExpiredError):
        projects.restore(bob, token)
    projects.create(alice, "Garden")

    with pytest.raises(UndoExpiredError, match="has another project"):
        projects.restore(alice, token)


# Its conversations -----------------------------------------------------------------------------------------------


def test_a_new_conversation_begins_in_the_project_that_was_chosen(alice: User) -> None:
    project = projects.create(alice, "Garden", only_project=True)

    by_default = accept_message(
        alice, uuid4(), None, "Hello", chosen=ConversationOptions(project=project.pk)
    ).conversation
    otherwise = accept_message(
        alice, uuid4(), None, "Hello", chosen=ConversationOptions(project=project.pk, only_project=False)
    ).conversation
    without = accept_message(alice, uuid4(), None, "Hello", chosen=ConversationOptions(only_project=True)).conversation

    assert (by_default.scope, by_default.only_project) == ("/projects/garden", True)
    assert (otherwise.scope, otherwise.only_project) == ("/projects/garden", False)
    assert (without.scope, without.only_project) == ("", False)


def test_nobody_begins_in_a_project_of_somebody_else(alice: User, bob: User) -> None:
    project = projects.create(bob, "Garden")

    with pytest.raises(TurnRejectedError) as refused:
        accept_message(alice, uuid4(), None, "Hello", chosen=ConversationOptions(project=project.pk))
    with pytest.raises(OptionNotFoundError):
        initial_fields(alice, ConversationOptions(project=10**12))

    assert refused.value.code == "not_found"
    assert not Conversation.objects.exists()


def test_the_link_of_a_project_preselects_it_with_its_way_of_recalling(her: Client, alice: User, bob: User) -> None:
    project, his = projects.create(alice, "Garden", only_project=True), projects.create(bob, "House")

    page = her.get(reverse("new"), {"project": project.pk}).content.decode()

    assert re.search(rf'<option value="{project.pk}" selected data-only>Garden</option>', page)
    assert re.search(r'id="choose-only"[^>]* checked', page)
    assert "House" not in her.get(reverse("new"), {"project": his.pk}).content.decode()


def test_the_header_shows_the_project_as_a_chip_that_leads_to_it(her: Client, alice: User) -> None:
    project = projects.create(alice, "Garden")
    conversation = Conversation.objects.create(user=alice, scope=project.path, only_project=True)

    page = her.get(reverse("conversation", args=[conversation.pk])).content.decode()

    assert re.search(
        rf'<a class="chip" href="{reverse("project", args=[project.pk])}">.*?Garden.*?only this project', page
    )


def test_a_conversation_is_given_to_a_project_and_taken_out_again_in_its_menu(her: Client, alice: User) -> None:
    project = projects.create(alice, "Garden", "Be a gardener.")
    conversation = begin(alice, numbered(1))
    address = reverse("conversation_choices", args=[conversation.pk])

    page = her.post(address, {"project": project.pk, "only_project": "true"}, follow=True).content.decode()
    conversation.refresh_from_db()
    assert (conversation.scope, conversation.only_project) == (project.path, True)
    assert "Moved to /projects/garden." in page
    assert "cache has to be rebuilt" in page

    her.post(address, {"project": "", "only_project": "true"})
    conversation.refresh_from_db()
    assert (conversation.scope, conversation.only_project) == ("", False)


def test_another_way_of_recalling_leaves_the_cache_as_it_is_and_says_no_other(her: Client, alice: User) -> None:
    project = projects.create(alice, "Garden", "Be a gardener.")
    conversation = begin(alice, numbered(1))
    Conversation.objects.filter(pk=conversation.pk).update(scope=project.path)
    address = reverse("conversation_choices", args=[conversation.pk])

    page = her.post(address, {"project": project.pk, "only_project": "true"}, follow=True).content.decode()

    notice = page.split('id="notices"')[1].split("</div>")[0]
    assert "Now using only this project’s memories." in notice
    assert "cache" not in notice


# Forgetting ------------------------------------------------------------------------------------------------------


def forgotten(user: User, statement: str) -> None:
    fact = Fact.objects.create(user=user, statement=statement, status=Fact.Status.ACTIVE)
    forget(user, Target(Forgetting.What.FACT, str(fact.pk)), by=user)


def test_a_forgotten_name_leaves_the_folder_of_a_project_and_all_that_names_it(alice: User, bob: User) -> None:
    project = Project.objects.create(user=alice, name="Move", path="/projects/brunhilde", instructions="Plan it.")
    his = Project.objects.create(user=bob, name="Move", path="/projects/brunhilde")
    conversation = Conversation.objects.create(user=alice, scope=project.path)
    document(alice, "/projects/brunhilde/boxes")

    forgotten(alice, "The user's sister is called Brunhilde.")

    for row in (project, his, conversation):
        row.refresh_from_db()
    assert project.path == conversation.scope == "/projects/forgotten"
    assert paths(alice) == ["/projects/forgotten/boxes"]
    assert (project.name, project.instructions) == ("Move", "Plan it.")
    assert his.path == "/projects/brunhilde"


def test_a_forgotten_text_leaves_the_instructions_of_a_project_and_of_a_role(alice: User) -> None:
    secret = "The user's sister is called Brunhilde."
    project = projects.create(alice, "Move", f"Plan it. {secret} Be brief.")
    role = roles.create(alice, "Planner", f"{secret} Be brief.")

    forgotten(alice, secret)

    project.refresh_from_db()
    role.refresh_from_db()
    assert "sister is called" not in project.instructions + role.instructions
    assert project.instructions.startswith("Plan it.")
    assert project.instructions.endswith("Be brief.")
