"""A statement says that an older one no longer holds, in other words and without a key."""

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from chat.models import Conversation, Message
from memory.facts.contradiction import oppose_replaced
from memory.facts.replacement import Replaces, replaces, with_now
from memory.librarian.remember import propose_from_assistant
from memory.models import Fact
from memory.review import decisions

NOT, LIKELY, CLEARLY = Replaces.NOT, Replaces.LIKELY, Replaces.CLEARLY


@pytest.mark.parametrize(
    ("newer", "older", "how"),
    [
        ("The spare key is now kept in the safe.", "The spare key is kept in the shed.", CLEARLY),
        ("The spare key is now kept in the safe.", "The spare tire is kept in the trunk.", NOT),
        ("The user no longer works at Initech.", "The user works at Initech.", CLEARLY),
        ("The user no longer works at Initech.", "The user's sister works at Initech.", NOT),
        ("The user left Initech in May.", "The user works at Initech as a welder.", CLEARLY),
        ("The user left 7 in May.", "The user works at Seven.", CLEARLY),
        ("The daily review has been moved to 10:15.", "The review is at 9:30.", CLEARLY),
        ("The choir is led by Tomas now.", "Petra leads the choir.", CLEARLY),
        ("The team migrated from Jira to Linear.", "The team uses Jira for tickets.", CLEARLY),
        ("The user drinks tea instead of coffee.", "The user's sister drinks coffee.", NOT),
        ("The user's new phone is a Pixel.", "The user's phone is an iPhone.", CLEARLY),
        ("The user's new phone is a Pixel.", "The user's laptop is a ThinkPad.", NOT),
        ("The rent went up to 1200 euros.", "The rent is 1000 euros.", CLEARLY),
        ("The rent went up to 1200 euros.", "The deposit is 1000 euros.", NOT),
        ("The user only reads paperbacks.", "The user reads two novels a week.", CLEARLY),
        ("The user only reads paperbacks.", "The user writes novels.", NOT),
        ("Server db-10 runs the wiki.", "Server db-1 runs nginx.", NOT),
        ("The blog is hosted on Fly.", "The blog is hosted on Heroku.", LIKELY),
        ("The rent is due on the third.", "The rent is due on the first.", LIKELY),
        ("Mara lives in Porto now.", "Joel lives in Porto.", NOT),
        ("The user now plays tennis.", "The user plays chess.", NOT),
        ("The user speaks Polish.", "The user speaks French.", NOT),
        ("One of Oskar's pastimes is drums now.", "Oskar was 9 years old in May 2026.", NOT),
        ("The user now also works at Globex.", "The user works at Initech.", NOT),
        ("The user's sister is a doctor.", "The user's sister is tall.", NOT),
        ("The user now lives in Lyon.", "The user lives in Porto and works at Initech.", NOT),
    ],
)
def test_only_what_it_is_about_is_replaced(newer: str, older: str, how: Replaces) -> None:
    assert replaces(newer, older) == how


def test_the_now_of_the_words_it_rests_on_counts_for_a_statement() -> None:
    older, newer = "The user's landlord is Ernst.", "The user's landlord is Pia."
    assert replaces(newer, older) < CLEARLY
    assert replaces(with_now(newer, "my landlord is Pia now"), older) == CLEARLY


@pytest.mark.django_db
def test_accepting_a_statement_supersedes_what_it_replaces_and_a_way_back_restores_it(alice: User) -> None:
    for statement in ("The spare key is kept in the shed.", "The spare key is now kept in the safe.",
                      "The spare key is kept in the shed again."):  # fmt: skip
        propose_from_assistant("Notes", alice, statement)
        decisions.accept(Fact.objects.get(user=alice, status="proposed"), by=alice)

    assert [fact.statement for fact in Fact.objects.for_user(alice).active()] == [statement]


@pytest.mark.django_db
def test_the_statements_do_not_grow_with_what_is_replaced(
    alice: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(20):
        box = f"The spare key is kept in box {number}."
        Fact.objects.create(user=alice, statement=box, status="proposed", source="imported")
        Fact.objects.create(user=alice, statement=f"The spare key is kept in drawer {number}.", status="active")

    with django_assert_max_num_queries(20):
        propose_from_assistant("Notes", alice, "The spare key is now kept in the safe.")

    new = Fact.objects.get(user=alice, status="proposed")
    assert new.links.filter(relation="supersedes", strength=1.0).count() == 20
    assert new.links.filter(relation="contradicts", strength=0.9).count() == 20
    assert Fact.objects.filter(superseded_by=new).count() == 20


@pytest.mark.django_db
def test_another_assistants_proposal_takes_none_of_the_persons_own_from_review(alice: User) -> None:
    own = Fact.objects.create(user=alice, statement="The spare key is kept in the shed.", status="proposed")

    propose_from_assistant("Notes", alice, "The spare key is now kept in the safe.")

    own.refresh_from_db()
    assert own.status == "proposed"


@pytest.mark.django_db
def test_correcting_a_fact_into_the_words_of_another_leaves_one_with_its_key(alice: User) -> None:
    keyed = Fact.objects.create(
        user=alice, statement="The user lives in Porto.", key="user/home", value="Porto", status="active"
    )
    free = Fact.objects.create(user=alice, statement="The user lives in Lyon.", status="active")

    action = decisions.correct(free, "The user lives in Porto", by=alice)

    only = Fact.objects.for_user(alice).active().get()
    assert (only.key, only.value) == ("user/home", "Porto")
    decisions.undo(action)
    assert set(Fact.objects.for_user(alice).active()) == {keyed, free}


@pytest.mark.django_db
def test_two_statements_of_one_message_replace_neither(alice: User) -> None:
    conversation = Conversation.objects.create(user=alice)
    said = Message.objects.create(user=alice, conversation=conversation, seq=1, turn=1, role="user",
                                  event_type="user_message", text="The tea is due on 2 May now.")  # fmt: skip
    for statement in ("The tea is due on 1 May.", "The tea is due on 2 May now."):
        fact = Fact.objects.create(user=alice, statement=statement, status="active", message=said)
        oppose_replaced(fact)
    assert Fact.objects.for_user(alice).active().count() == 2


@pytest.mark.django_db
def test_a_correction_moves_the_value_along(alice: User) -> None:
    fact = Fact.objects.create(
        user=alice, statement="The user lives in Porto.", key="user/home", value="Porto", status="active"
    )

    decisions.correct(fact, "The user lives in Lyon.", by=alice)

    assert Fact.objects.for_user(alice).active().get().value == "Lyon"


def test_the_name_of_one_of_several_replaces_no_others() -> None:
    assert replaces("The user's rabbit is called Loretta now.", "The user's rabbit is called Dolly.") == Replaces.NOT


def test_what_was_so_is_not_replaced_by_what_is_so_now() -> None:
    assert replaces("The user lives in Lyon now.", "The user used to live in Hanoi.") == Replaces.NOT
    assert replaces("The user lives in Lyon now.", "The user lives in Hanoi.") == Replaces.CLEARLY
