"""A project's conversation recalls the project's memories first, or with “only this project” nothing else."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from budget.planning.plan import Section
from chat.models import Conversation, Message, Project
from chat.projects import projects
from chat.prompt.assemble import AssembledPrompt, assemble_prompt
from chat.tools.registry import run_tool
from chat.turn import AcceptedTurn, ToolUse
from chat.turns.intake import accept_message
from memory.models import Boundary, Document, Episode, Fact
from memory.retrieval.candidates import Filters
from memory.retrieval.conversation_start import find_opening_memory
from memory.retrieval.query import parse_question
from memory.retrieval.ranking import CALIBRATIONS, FITTING, PROFILES, PROJECT_BOOST, RankedCandidate, rerank
from memory.retrieval.recall import retrieve
from tests.memory.retrieval.test_ranking import NOW, candidate, passage, ranked
from tests.memory.retrieval.test_ranking import refs as order
from tests.memory.retrieval.test_recall import document, episode, refs, remember, talk, texts

ELSEWHERE = "Roses stand on the wallpaper of the hall."
GARDEN = "/projects/garden"


# The rule --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "other", "first"),
    [
        ({"distance": 0.40}, {"distance": 0.40}, "fact:1"),  # equal: the project's
        ({"distance": 0.50}, {"distance": 0.42}, "fact:1"),  # a little farther: still the project's
        ({"distance": 0.60}, {"distance": 0.35}, "fact:2"),  # a better answer comes before one that merely belongs
        ({"distance": None, "words": 0.35}, {"distance": 0.30, "words": 0.9}, "fact:2"),
    ],
)
def test_what_belongs_to_the_project_comes_first_unless_something_else_fits_far_better(
    own: dict[str, Any], other: dict[str, Any], first: str
) -> None:
    mine = candidate("fact:1", "The roses stand by the wall.", in_project=True, **own)
    theirs = candidate("fact:2", "The office has a terrace.", **other)

    assert order(ranked(theirs, mine))[0] == first


parts = st.fixed_dictionaries(
    {
        "distance": st.none() | st.floats(0, 1.2),
        "words": st.floats(0, 1),
        "importance": st.floats(0, 1),
        "own_words": st.booleans(),
    }
)


@given(parts, st.sampled_from(list(PROFILES)))
def test_belonging_lets_words_and_meaning_count_more_and_says_so_and_moves_no_floor(
    shared: dict[str, Any], name: str
) -> None:
    asked, profile = parse_question("Where do the roses stand?", (), NOW), replace(PROFILES[name], importance_boost=0.0)

    def scored(**more: Any) -> RankedCandidate:
        one = passage("message:1", "By the wall, I think.", **shared, **more)
        (row,) = rerank(asked, [one], profile, NOW, calibration=CALIBRATIONS["all-MiniLM-L6-v2"])
        return row

    outside, inside = scored(), scored(in_project=True)
    fit = sum(profile.weights[part] * outside.parts[part] for part in FITTING)
    assert inside.total == pytest.approx(min(1.0, outside.total + PROJECT_BOOST * fit / profile.whole))
    assert inside.rule == outside.rule
    assert inside.parts == {**outside.parts, "project": 1.0}


@given(st.lists(parts, min_size=1, max_size=6), parts)
def test_of_two_that_are_alike_the_projects_comes_first(others: list[dict[str, Any]], alike: dict[str, Any]) -> None:
    rest = [candidate(f"fact:{number}", f"Statement {number}.", **one) for number, one in enumerate(others, start=3)]
    theirs, mine = (candidate(ref, "Alike.", **alike, in_project=ref == "fact:2") for ref in ("fact:1", "fact:2"))

    rows = {row.candidate.ref: row for row in ranked(theirs, *rest, mine)}
    outside, inside = rows["fact:1"], rows["fact:2"]

    fits = any(outside.parts[part] > 1e-6 for part in FITTING)
    assert inside.total >= outside.total
    assert inside.total > outside.total or not fits or outside.total > 0.999


# From the database -----------------------------------------------------------------------------------------------


@pytest.fixture
def garden(alice: User, db: None) -> Project:
    """A project with one of everything, and the same about roses outside it."""
    project = projects.create(alice, "Garden", "Answer as a gardener would.")
    inside, _ = talk(alice, "The roses need water.", "Indeed.")
    Conversation.objects.filter(messages__pk=inside).update(scope=project.path)
    conversation = Conversation.objects.get(messages__pk=inside)
    talk(alice, "Roses were on my desk at work, too.", "I see.")
    document(alice, f"{project.path}/plan", "Roses stand along the wall.")
    document(alice, "/projects/house", ELSEWHERE)
    document(alice, "/projects/garden2/plan", "Roses in the neighbour's garden.")
    (kept, _) = remember(alice, "The user grows roses.", "The user paints roses in oil.")
    Fact.objects.filter(pk=kept.pk).update(message_id=inside)
    episode(alice, "Roses planted", "The user planted roses in May.", conversation=conversation)
    episode(alice, "Roses bought", "The user bought cut roses for a wedding.")
    return project


OF_GARDEN = {
    "The roses need water.",
    "Roses stand along the wall.",
    "The user grows roses.",
    "The user planted roses in May.",
}


def test_what_belongs_to_the_project_is_marked_in_every_kind_of_memory(garden: Project, alice: User) -> None:
    found = retrieve(alice, "roses", now=NOW, top_k=20, project=garden.path)

    marked = {item.text for item in found.kept if item.parts.get("project") == 1}
    assert marked >= OF_GARDEN
    assert not marked & {ELSEWHERE, "The user paints roses in oil.", "Roses in the neighbour's garden."}
    assert ELSEWHERE in texts(found), "the rest comes after it, and is not left out"


def test_without_a_project_nothing_is_marked_and_the_order_is_as_ever(garden: Project, alice: User) -> None:
    found = retrieve(alice, "roses", now=NOW, top_k=20)

    assert not any("project" in item.parts for item in found.kept)
    assert refs(found) == refs(retrieve(alice, "roses", now=NOW, top_k=20, project="/projects/none"))


def test_a_project_costs_no_statement_more(garden: Project, alice: User, django_assert_num_queries: Any) -> None:
    retrieve(alice, "roses", now=NOW)
    with django_assert_num_queries(2):
        retrieve(alice, "roses", now=NOW)
    with django_assert_num_queries(2):
        retrieve(alice, "roses", now=NOW, project=garden.path, filters=Filters(scope=garden.path))


def test_somebody_elses_project_of_the_same_path_gives_nothing(garden: Project, bob: User) -> None:
    projects.create(bob, "Garden")

    for filters in (Filters(), Filters(scope=GARDEN)):
        found = retrieve(bob, "roses", now=NOW, project=GARDEN, filters=filters)
        assert (found.kept, found.cut) == ((), ())


# In a turn -------------------------------------------------------------------------------------------------------


def begun(alice: User, project: Project, *, only: bool, said: str = "Where do the roses stand?") -> AcceptedTurn:
    opened = accept_message(alice, uuid4(), None, said)
    Conversation.objects.filter(pk=opened.conversation.pk).update(scope=project.path, only_project=only)
    conversation = Conversation.objects.get(pk=opened.conversation.pk)
    return replace(opened, conversation=conversation)


def recalled(compiled: AssembledPrompt) -> list[str]:
    return [piece.label for piece in compiled.fitted.kept if piece.section == Section.MEMORIES]


def test_the_prompt_holds_the_projects_instructions_beside_the_role(garden: Project, alice: User) -> None:
    compiled = assemble_prompt(begun(alice, garden, only=False))

    system = "\n".join(block["text"] for block in compiled.request["system"])
    assert "# The project this conversation belongs to\nGarden\nAnswer as a gardener would." in system
    (piece,) = [piece for piece in compiled.fitted.kept if piece.section == Section.ROLE]
    assert (piece.ref, piece.label) == (f"project:{garden.pk}", "Garden")


def test_a_project_without_instructions_adds_nothing_to_the_prompt(garden: Project, alice: User) -> None:
    Project.objects.update(instructions="")

    compiled = assemble_prompt(begun(alice, garden, only=False))

    assert Section.ROLE not in {piece.section for piece in compiled.fitted.kept}


def test_a_turn_recalls_its_project_first_and_the_receipt_says_why(garden: Project, alice: User) -> None:
    compiled = assemble_prompt(begun(alice, garden, only=False))

    memories = [piece for piece in compiled.fitted.kept if piece.section == Section.MEMORIES]
    assert memories[0].label in OF_GARDEN
    assert memories[0].parts["project"] == 1


def test_only_this_project_leaves_all_else_out_of_the_prompt(garden: Project, alice: User) -> None:
    Boundary.objects.create(user=alice, text="No jokes about spiders.")
    remember(alice, "The user is called Alice.", key="user/name", importance=0.9)

    compiled = assemble_prompt(begun(alice, garden, only=True))

    assert recalled(compiled)
    assert set(recalled(compiled)) <= {*OF_GARDEN, "Indeed."}, "the answer was given in the project, too"
    left_out = {cut.piece.label for cut in compiled.omitted}
    assert not left_out & {ELSEWHERE, "The user paints roses in oil."}, "not even as a candidate"
    system = "\n".join(block["text"] for block in compiled.request["system"])
    assert "No jokes about spiders." in system, "boundaries stand always"
    assert "The user is called Alice." in system, "the profile stands always"


def test_where_one_left_is_told_from_the_project_first_or_only(garden: Project, alice: User) -> None:
    Episode.objects.all().delete()
    now = timezone.now()
    episode(alice, "The boiler broke", "The boiler broke and Anna repaired it.", happened_at=now, significance=0.9)
    hello = "What shall we do about the compost heap today?"

    first = assemble_prompt(begun(alice, garden, only=False, said=hello))
    only = assemble_prompt(begun(alice, garden, only=True, said=hello))

    assert "The boiler broke and Anna repaired it." in recalled(first), "nothing was going on in the project"
    assert "The boiler broke and Anna repaired it." not in recalled(only)

    inside = Conversation.objects.filter(scope=garden.path, messages__text="The roses need water.").first()
    earlier = now - timedelta(days=2)
    episode(alice, "Compost", "A heap was begun.", happened_at=earlier, significance=0.8, conversation=inside)
    for is_only in (False, True):
        begins_with = find_opening_memory(alice, now, project=garden.path, only_project=is_only)
        assert begins_with is not None
        assert begins_with.text == "A heap was begun."


# The model's own tools -------------------------------------------------------------------------------------------


def used(opened: AcceptedTurn, name: str, **given_to_it: Any) -> str:
    call = ToolUse("1", name, given_to_it)
    run_tool(opened, call)
    return call.result


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("search_knowledge", "Roses stand along the wall.", ELSEWHERE),
        ("search_knowledge", "The user grows roses.", "The user paints roses in oil."),
        ("search_knowledge", "The user planted roses in May.", "The user bought cut roses for a wedding."),
        ("search_conversation", "The roses need water.", "Roses were on my desk at work, too."),
    ],
)
def test_a_search_by_the_model_obeys_only_this_project(
    garden: Project, alice: User, name: str, inside: str, outside: str
) -> None:
    only, anywhere = begun(alice, garden, only=True), begun(alice, garden, only=False)

    assert inside in used(only, name, query="roses", top_k=20)
    assert outside not in used(only, name, query="roses", top_k=20)
    assert outside in used(anywhere, name, query="roses", top_k=20)


def test_a_path_outside_the_project_widens_no_search(garden: Project, alice: User) -> None:
    only = begun(alice, garden, only=True)

    assert json.loads(used(only, "search_knowledge", query="roses", path="/projects/house"))["results"] == []
    assert ELSEWHERE in used(
        begun(alice, garden, only=False), "search_knowledge", query="roses", path="/projects/house"
    )


@pytest.mark.parametrize(
    ("path", "may"),
    [
        ("/projects/garden/plan", True),
        ("/profile/identity", True),
        ("/projects/house", False),
        ("/projects/garden2/plan", False),
    ],
)
def test_the_model_opens_only_what_the_project_holds(garden: Project, alice: User, path: str, may: bool) -> None:
    Document.objects.update_or_create(user=alice, path="/profile/identity", defaults={"text": "She is Alice."})

    assert ("There is no document" not in used(begun(alice, garden, only=True), "read_document", path=path)) is may
    assert "There is no document" not in used(begun(alice, garden, only=False), "read_document", path=path)


def test_what_the_conversations_own_tools_kept_is_opened_always(garden: Project, alice: User) -> None:
    only = begun(alice, garden, only=True)
    own, other = (f"/artifacts/{pk}/search" for pk in (only.conversation.pk, uuid4()))
    for path in (own, other):
        Document.objects.create(user=alice, path=path, text="High water at nine.")

    assert "High water" in used(only, "read_document", path=own)
    assert "High water" not in used(only, "read_document", path=other)


def test_an_answer_is_not_recalled_from_a_conversation_that_left_the_project(garden: Project, alice: User) -> None:
    moved = Message.objects.get(text="The roses need water.").conversation_id
    Conversation.objects.filter(pk=moved).update(scope="")

    found = retrieve(alice, "roses", now=NOW, top_k=20, filters=Filters(scope=garden.path))

    assert texts(found) == ["Roses stand along the wall."]
