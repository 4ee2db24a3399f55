"""Profile documents and facts agree: a line with a mark states a fact, every other line is the user's own."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from memory.consolidation.consolidate import consolidate
from memory.documents import revisions, tree
from memory.documents.profile import PROSE, profile_lines
from memory.documents.profile_updates import MAX_LINES, refresh_profile
from memory.documents.revisions import BEGINNINGS, DocumentChangedError, Origin, save
from memory.models import Document, Fact, ReviewAction, Revision
from memory.review.decisions import accept, edit, reject, undo

pytestmark = pytest.mark.usefixtures("queued")

IDENTITY, PREFERENCES, GOALS = (beginning.path for beginning in BEGINNINGS)
Status = Fact.Status


def known(user: User, statement: str, kind: str = "biography", **fields: Any) -> Fact:
    defaults = {"status": Status.ACTIVE, "importance": 0.6, "quote": statement}
    fact: Fact = Fact.objects.create(user=user, statement=statement, kind=kind, **(defaults | fields))
    return fact


def home(user: User, place: str = "Lisbon", **fields: Any) -> Fact:
    return known(user, f"The user lives in {place}.", key="user/home", value=place, **fields)


def text(user: User, path: str = IDENTITY) -> str:
    document: Document = Document.objects.for_user(user).get(path=path)
    return document.text


def number(user: User, path: str = IDENTITY) -> int:
    return Revision.objects.filter(document__user=user, document__path=path).count()


def write(user: User, new: str, path: str = IDENTITY) -> Document:
    return save(user, path, new, started_from=number(user, path))


# Lines -----------------------------------------------------------------------------------------------------------


def test_active_facts_of_profile_kinds_become_lines_with_their_ids(alice: User) -> None:
    lisbon = home(alice)
    tea = known(alice, "The user prefers tea.", "preference")
    marathon = known(alice, "The user wants to run a marathon.", "goal")

    assert refresh_profile(alice)

    assert text(alice) == f"- Lives in Lisbon. ^fact-{lisbon.pk}"
    assert text(alice, PREFERENCES) == f"- Prefers tea. ^fact-{tea.pk}"
    assert text(alice, GOALS) == f"- Wants to run a marathon. ^fact-{marathon.pk}"
    assert set(Revision.objects.values_list("author", flat=True)) == {Revision.Author.LIBRARIAN}


@pytest.mark.parametrize(
    "fields",
    [
        {"status": Status.PROPOSED},
        {"status": Status.REJECTED},
        {"importance": 0.4},
        {"kind": "event"},
        {"valid_until": timezone.now() - timedelta(days=1)},
    ],
    ids=lambda fields: next(iter(fields)) + " " + str(next(iter(fields.values())))[:10],
)
def test_other_facts_become_none(alice: User, fields: dict[str, Any]) -> None:
    known(alice, "The user lives in Lisbon.", **fields)
    refresh_profile(alice)
    assert not Document.objects.exclude(text="").exists()


def test_again_changes_nothing(alice: User) -> None:
    home(alice)
    refresh_profile(alice)
    assert not refresh_profile(alice)
    assert number(alice) == 1


def test_a_persons_prose_stays_as_it_was(alice: User) -> None:
    prose = "# Me\n\nI am a nurse.  \n* I sing.\n"
    save(alice, IDENTITY, prose, started_from=0)
    fact = home(alice)
    refresh_profile(alice)
    assert text(alice) == f"# Me\n\nI am a nurse.  \n* I sing.\n\n- Lives in Lisbon. ^fact-{fact.pk}\n"
    reject(fact, by=alice)
    assert [line for line in text(alice).split("\n") if line] == [line for line in prose.split("\n") if line]


def test_a_person_with_a_name_has_a_document_of_their_own(alice: User) -> None:
    mary = known(alice, "The user's sister Mary lives in Porto.", "person", tags=["Mary", "sister"])
    nameless = known(alice, "The user has a brother.", "person", tags=["brother"])
    refresh_profile(alice)
    assert text(alice, "/profile/people/Mary") == f"- Sister Mary lives in Porto. ^fact-{mary.pk}"
    assert text(alice) == f"- Has a brother. ^fact-{nameless.pk}"
    made = Document.objects.get(path="/profile/people/Mary")
    assert (made.title, made.source) == ("Mary", Document.Source.LIBRARIAN)


def test_a_nameless_relation_is_the_person_whose_name_is_known(alice: User) -> None:
    known(alice, "The user's sister is called Mary.", "person", key="user/sister/name", value="Mary", tags=["Mary"])
    home_of_hers = known(alice, "The user's sister lives in Porto.", "person", key="user/sister/home", tags=["sister"])
    refresh_profile(alice)
    assert f"^fact-{home_of_hers.pk}" in text(alice, "/profile/people/Mary")


@pytest.mark.parametrize(
    ("statement", "fields", "path"),
    [
        ("The user's sister Mary loves figs.", {"kind": "preference", "tags": ["Mary"]}, "/profile/people/Mary"),
        ("Mary wants to sail to Ireland.", {"kind": "goal", "tags": ["Ireland", "Mary"]}, "/profile/people/Mary"),
        (
            "In Porto, Mary has a flat.",
            {"kind": "person", "key": "mary/home", "tags": ["Porto"]},
            "/profile/people/Mary",
        ),
        (
            "The user's partner is Anna.",
            {"kind": "person", "key": "user/partner", "tags": ["Anna"]},
            "/profile/people/Anna",
        ),
        ("The user's favorite singer is Adele.", {"kind": "preference", "tags": ["Adele"]}, PREFERENCES),
        ("The user loves Mary's figs.", {"kind": "preference", "tags": ["Mary"]}, PREFERENCES),
        ("Mary's figs are what the user loves.", {"kind": "preference", "tags": ["Mary"]}, PREFERENCES),
        ("The user's dog Rex loves figs.", {"kind": "preference", "tags": ["Rex"]}, PREFERENCES),
        ("Mary is the user's name.", {"kind": "identity", "key": "user/name", "tags": ["Mary"]}, IDENTITY),
    ],
)
def test_a_fact_goes_to_the_document_of_the_person_it_is_about(
    alice: User, statement: str, fields: dict[str, Any], path: str
) -> None:
    fact = known(alice, statement, **fields)
    refresh_profile(alice)
    assert Document.objects.get(text__contains=f"^fact-{fact.pk}").path == path


def test_a_person_known_by_their_full_name_gets_no_second_document(alice: User) -> None:
    save(alice, "/profile/people/Mary Chen", "We met at school.", started_from=0)
    mary = known(alice, "The user's friend Mary plays chess.", "person", tags=["Mary"])
    refresh_profile(alice)
    assert f"^fact-{mary.pk}" in text(alice, "/profile/people/Mary Chen")
    assert not Document.objects.filter(path="/profile/people/Mary").exists()


def test_the_document_of_a_person_of_whom_nothing_is_known_any_more_goes(alice: User) -> None:
    mary = known(alice, "The user's sister Mary sings.", "person", tags=["Mary"])
    refresh_profile(alice)
    reject(mary, by=alice)
    assert not Document.objects.filter(path="/profile/people/Mary").exists()


def test_a_document_holds_so_many_lines_and_those_that_stand_stay(alice: User) -> None:
    for place in range(MAX_LINES):
        known(alice, f"The user likes thing {place}.", "preference")
    refresh_profile(alice)
    before = text(alice, PREFERENCES)
    known(alice, "The user loves the most important thing.", "preference", importance=1.0)
    refresh_profile(alice)
    assert text(alice, PREFERENCES) == before
    assert len(before.split("\n")) == MAX_LINES


def test_bobs_documents_are_left_alone(alice: User, bob: User) -> None:
    home(alice)
    home(bob, "Porto")
    refresh_profile(alice)
    assert not Document.objects.for_user(bob).exists()


def test_a_synchronized_file_is_not_written_into(alice: User) -> None:
    origin = Origin(Document.Source.SYNC, "notes:goals", "hash")
    revisions.add(alice, GOALS, "From my notes.", Revision.Author.SYNC, origin)
    known(alice, "The user wants to run a marathon.", "goal")
    refresh_profile(alice)
    assert text(alice, GOALS) == "From my notes."


def test_a_moved_document_stays_where_it_is_and_is_still_kept_true(alice: User) -> None:
    home(alice)
    refresh_profile(alice)
    tree.move(alice, IDENTITY, "/mine/About me")
    job = known(alice, "The user works as a nurse.", key="user/job", value="nurse")
    refresh_profile(alice)
    assert f"- Works as a nurse. ^fact-{job.pk}" in text(alice, "/mine/About me")
    assert not Document.objects.filter(path=IDENTITY).exists()


# What becomes of a line whose fact changes -----------------------------------------------------------------------


def test_an_accepted_proposal_gets_a_line_and_takes_the_place_of_the_one_it_supersedes(alice: User) -> None:
    old = home(alice)
    known(alice, "The user works as a nurse.", key="user/job", value="nurse")
    refresh_profile(alice)
    new = home(alice, "Porto", status=Status.PROPOSED)
    action = accept(new, by=alice)
    assert text(alice).split("\n")[0] == f"- Lives in Porto. ^fact-{new.pk}"
    undo(action)
    assert text(alice).split("\n")[0] != f"- Lives in Porto. ^fact-{new.pk}"
    assert f"- Lives in Lisbon. ^fact-{old.pk}" in text(alice)


def test_an_edited_proposal_is_told_in_its_new_words(alice: User) -> None:
    new = home(alice, status=Status.PROPOSED)
    edit(new, "The user lives in Porto.", "Porto", by=alice)
    assert text(alice) == f"- Lives in Porto. ^fact-{new.pk}"


def test_a_rejected_fact_loses_its_line_and_undo_brings_it_back(alice: User) -> None:
    fact = home(alice)
    refresh_profile(alice)
    action = reject(fact, by=alice)
    assert text(alice) == ""
    undo(action)
    assert text(alice) == f"- Lives in Lisbon. ^fact-{fact.pk}"


def test_what_expires_leaves_the_document_with_the_daily_tidying(alice: User) -> None:
    home(alice, valid_until=timezone.now() + timedelta(hours=1))
    refresh_profile(alice)
    Fact.objects.update(valid_until=timezone.now() - timedelta(minutes=1))
    consolidate(alice, timezone.now())
    assert text(alice) == ""


# What a person does to a line ------------------------------------------------------------------------------------


def test_a_reworded_line_supersedes_its_fact_by_one_in_the_persons_words(alice: User) -> None:
    old = home(alice)
    refresh_profile(alice)
    write(alice, f"- Lives in Porto. ^fact-{old.pk}")
    old.refresh_from_db()
    new = Fact.objects.get(status=Status.ACTIVE)
    assert (old.status, old.superseded_by) == (Status.SUPERSEDED, new)
    assert (new.statement, new.key, new.value) == ("The user lives in Porto.", "user/home", "Porto")
    assert (new.source, new.confidence, new.quote) == (Fact.Source.EDITED, 1.0, "Lives in Porto.")
    assert text(alice) == f"- Lives in Porto. ^fact-{new.pk}"
    assert not refresh_profile(alice)


def test_rewording_can_be_undone(alice: User) -> None:
    old = home(alice)
    refresh_profile(alice)
    write(alice, f"- Lives in Porto. ^fact-{old.pk}")
    undo(ReviewAction.objects.get())
    assert text(alice) == f"- Lives in Lisbon. ^fact-{old.pk}"


def test_words_with_another_subject_are_taken_as_they_were_written(alice: User) -> None:
    old = home(alice)
    refresh_profile(alice)
    write(alice, f"- My home is Porto since May. ^fact-{old.pk}")
    new = Fact.objects.get(status=Status.ACTIVE)
    assert (new.statement, new.value) == ("My home is Porto since May.", "")


def test_a_removed_line_rejects_its_fact_and_never_returns(alice: User) -> None:
    fact = home(alice)
    refresh_profile(alice)
    write(alice, "Just me.")
    fact.refresh_from_db()
    assert fact.status == Status.REJECTED
    assert not refresh_profile(alice)
    assert text(alice) == "Just me."


def test_taking_out_many_lines_is_one_version_and_each_can_be_undone(alice: User) -> None:
    facts = [known(alice, f"The user likes thing {n}.", "preference") for n in range(4)]
    refresh_profile(alice)
    stays = text(alice, PREFERENCES).split("\n")[1]
    write(alice, stays, PREFERENCES)
    assert number(alice, PREFERENCES) == 2
    assert not refresh_profile(alice)
    actions = list(ReviewAction.objects.order_by("pk"))
    assert [action.fact_id for action in actions] == [facts[0].pk, facts[2].pk, facts[3].pk]
    assert len({action.batch for action in actions}) == 1
    undo(actions[1])
    assert text(alice, PREFERENCES) == f"{stays}\n- Likes thing 2. ^fact-{facts[2].pk}"


def test_a_line_that_lost_its_mark_alone_gets_it_back(alice: User) -> None:
    fact = home(alice)
    refresh_profile(alice)
    write(alice, "I sing.\n* Lives in  Lisbon.")
    fact.refresh_from_db()
    assert fact.status == Status.ACTIVE
    assert text(alice) == f"I sing.\n* Lives in  Lisbon. ^fact-{fact.pk}"


def test_a_copied_line_is_prose_and_the_fact_keeps_one(alice: User) -> None:
    fact = home(alice)
    refresh_profile(alice)
    write(alice, f"- Lives in Lisbon. ^fact-{fact.pk}\n- Lives in Faro. ^fact-{fact.pk}")
    fact.refresh_from_db()
    assert fact.status == Status.ACTIVE
    assert text(alice) == f"- Lives in Lisbon. ^fact-{fact.pk}\n- Lives in Faro."


def test_a_mark_that_is_nobodys_here_is_taken_off(alice: User, bob: User) -> None:
    theirs = home(bob)
    write(alice, f"Lives in Porto. ^fact-{theirs.pk}")
    assert text(alice) == "Lives in Porto."
    theirs.refresh_from_db()
    assert theirs.status == Status.ACTIVE


def test_a_secret_written_over_a_line_becomes_no_fact(alice: User) -> None:
    old = home(alice)
    refresh_profile(alice)
    write(alice, f"- My card is 4111 1111 1111 1111. ^fact-{old.pk}")
    assert text(alice) == "- My card is 4111 1111 1111 1111."
    assert not Fact.objects.filter(status=Status.ACTIVE).exists()


def test_going_back_to_an_older_version_rewords_the_fact_that_holds(alice: User) -> None:
    old = home(alice)
    refresh_profile(alice)
    document = write(alice, f"- Lives in Porto. ^fact-{old.pk}")
    revisions.revert(document, 1, started_from=2)
    now = Fact.objects.get(status=Status.ACTIVE)
    assert (now.statement, now.value, now.source) == ("The user lives in Lisbon.", "Lisbon", Fact.Source.EDITED)
    assert text(alice) == f"- Lives in Lisbon. ^fact-{now.pk}"


def test_a_deleted_document_takes_its_facts_along(alice: User) -> None:
    fact = home(alice)
    refresh_profile(alice)
    tree.delete(alice, IDENTITY)
    fact.refresh_from_db()
    assert fact.status == Status.REJECTED
    assert not Document.objects.for_user(alice).exists()
    refresh_profile(alice)
    assert not Document.objects.for_user(alice).exclude(text="").exists()


def test_the_api_and_synchronizing_change_facts_as_the_page_does(alice: User, sign_in: Any) -> None:
    old = home(alice)
    refresh_profile(alice)
    changed = {"path": IDENTITY, "text": f"- Lives in Faro. ^fact-{old.pk}", "version": 1}
    answer = sign_in(alice).put("/api/v1/memory/document", changed, content_type="application/json")
    assert answer.status_code == 200, answer.content
    newest = Fact.objects.get(status=Status.ACTIVE)
    assert newest.statement == "The user lives in Faro."
    revisions.replace_text(Document.objects.get(path=IDENTITY), "Nothing.", Revision.Author.SYNC, "hash")
    newest.refresh_from_db()
    assert newest.status == Status.REJECTED


# Both at once ----------------------------------------------------------------------------------------------------


def test_what_the_librarian_wrote_meanwhile_is_merged_into_what_the_person_saves(alice: User) -> None:
    save(alice, IDENTITY, "I sing.\n", started_from=0)
    fact = home(alice)
    refresh_profile(alice)
    save(alice, IDENTITY, "I sing in a choir.\n", started_from=1)
    fact.refresh_from_db()
    assert fact.status == Status.ACTIVE
    assert text(alice) == f"I sing in a choir.\n\n- Lives in Lisbon. ^fact-{fact.pk}\n"


@pytest.mark.parametrize("theirs", ["I sing.", ""], ids=["replaced", "removed"])
def test_who_takes_out_a_line_that_changed_meanwhile_takes_out_the_old_one_only(alice: User, theirs: str) -> None:
    home(alice)
    refresh_profile(alice)
    new = home(alice, "Porto", status=Status.PROPOSED)
    accept(new, by=alice)
    save(alice, IDENTITY, theirs, started_from=1)
    new.refresh_from_db()
    assert new.status == Status.ACTIVE
    assert text(alice).split("\n") == [*([theirs] if theirs else []), f"- Lives in Porto. ^fact-{new.pk}"]


def test_who_rewords_a_line_that_changed_meanwhile_has_the_last_word(alice: User) -> None:
    old = home(alice)
    refresh_profile(alice)
    accept(home(alice, "Porto", status=Status.PROPOSED), by=alice)
    save(alice, IDENTITY, f"- Lives in Faro. ^fact-{old.pk}", started_from=1)
    now = Fact.objects.get(status=Status.ACTIVE)
    assert now.statement == "The user lives in Faro."
    assert text(alice) == f"- Lives in Faro. ^fact-{now.pk}"


def test_what_another_person_wrote_meanwhile_is_still_a_conflict(alice: User) -> None:
    save(alice, IDENTITY, "One.", started_from=0)
    save(alice, IDENTITY, "Two.", started_from=1)
    home(alice)
    refresh_profile(alice)
    with pytest.raises(DocumentChangedError):
        save(alice, IDENTITY, "Mine.", started_from=1)


@pytest.mark.django_db(transaction=True)
def test_a_person_and_the_librarian_writing_at_once_lose_nothing(transactional_db: None, alice: User) -> None:
    for place in range(5):
        known(alice, f"The user likes thing {place}.", "biography")
    refresh_profile(alice)
    start, failed = threading.Barrier(2), []

    def person() -> None:
        start.wait()
        try:
            for round_ in range(5):
                current = Document.objects.get(user=alice, path=IDENTITY).text
                save(alice, IDENTITY, f"Prose {round_}.\n{current}", started_from=number(alice))
        except DocumentChangedError as error:
            failed.append(error)
        finally:
            connection.close()

    def librarian() -> None:
        start.wait()
        try:
            for place in range(5, 10):
                known(alice, f"The user likes thing {place}.", "biography")
                refresh_profile(alice)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for work in (person, librarian)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    refresh_profile(alice)
    assert failed == []
    lines = text(alice).split("\n")
    assert [line for line in lines if line.startswith("Prose")] == [f"Prose {n}." for n in reversed(range(5))]
    assert sum("^fact-" in line for line in lines) == Fact.objects.filter(status=Status.ACTIVE).count() == 10


# In the prompt ---------------------------------------------------------------------------------------------------


def test_the_prompt_tells_each_fact_once_and_without_marks(alice: User) -> None:
    save(alice, IDENTITY, "I sing.", started_from=0)
    lisbon = home(alice)
    marathon = known(alice, "The user wants to run a marathon.", "goal")
    refresh_profile(alice)
    assert [(line.ref, line.text, line.kind) for line in profile_lines(alice)] == [
        (f"document:{IDENTITY}:1", "I sing.", PROSE),
        (f"fact:{marathon.pk}", "The user wants to run a marathon.", PROSE),
        (f"fact:{lisbon.pk}", "The user lives in Lisbon.", "biography"),
    ]


def test_a_line_whose_fact_holds_no_longer_is_not_told(alice: User) -> None:
    known(alice, "The user wants to run a marathon.", "goal")
    refresh_profile(alice)
    Fact.objects.update(valid_until=timezone.now() - timedelta(minutes=1))
    assert profile_lines(alice) == []


def test_pages_show_no_marks(alice: User, sign_in: Any) -> None:
    home(alice)
    refresh_profile(alice)
    page = sign_in(alice).get("/memory/about").content.decode()
    assert '<li>Lives in Lisbon. <a class="line-fact"' in page, "the mark is for the editor"


def test_a_line_that_tells_a_fact_is_found_as_that_fact_and_not_twice(alice: User) -> None:
    save(alice, IDENTITY, "I am fond of old trams.", Revision.Author.USER, started_from=0)
    home(alice)
    refresh_profile(alice)
    document = Document.objects.get(path=IDENTITY)
    assert "Lives in Lisbon." in document.display_text
    assert [chunk.text.strip() for chunk in document.chunks.all()] == ["I am fond of old trams."]
