"""Runs apply what the user corrects, ends and takes back, in the order in which it was said."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from chat.models import Message
from memory.embeddings.port import embedder
from memory.librarian import run as librarian
from memory.librarian.engine import Extraction, ExtractionInput, ProposedFact, Withdrawal
from memory.librarian.run import run_extraction
from memory.models import Fact, LibrarianRun
from memory.models.kinds import Kind
from memory.review.decisions import accept, reject, undo
from tests.memory.librarian.conftest import Scripted
from tests.memory.librarian.test_run import ask, facts, say

pytestmark = pytest.mark.usefixtures("queued")

ACTIVE, EXPIRED, SUPERSEDED, PROPOSED = "active", "expired", "superseded", "proposed"


def know(user: User, statement: str, key: str = "", value: str = "", **more: Any) -> Fact:
    kind = more.pop("kind", Kind.BIOGRAPHY)
    indexed = {"vector": embedder().embed([statement])[0], "embedded_by": embedder().name}
    fact: Fact = Fact.objects.create(
        user=user, statement=statement, kind=kind, key=key, value=value, **{"status": ACTIVE, **indexed, **more}
    )
    return fact


def stated(statement: str, quote: str, number: int = 1, **more: Any) -> ProposedFact:
    return ProposedFact(
        statement=statement, quote=quote, number=number,
        **{"kind": Kind.BIOGRAPHY, "confidence": 0.9, "importance": 0.6, **more},
    )  # fmt: skip


@pytest.fixture
def read(alice: User, monkeypatch: pytest.MonkeyPatch) -> Any:
    """`read(text, …, facts=…, ends=…, retracts=…)`: an engine that finds these reads these messages."""

    def read(*texts: str, **found: Any) -> LibrarianRun:
        def find(reading: ExtractionInput) -> Extraction:
            return Extraction(**found)

        monkeypatch.setattr(librarian, "choose_engine", lambda: Scripted(find))
        run = ask(say(alice, *texts))
        run_extraction(run.pk)
        run.refresh_from_db()
        return run

    return read


def status(fact: Fact) -> str:
    fact.refresh_from_db()
    return str(fact.status)


def test_what_has_ended_is_history_with_its_end(alice: User, read: Any) -> None:
    job = know(alice, "The user works at Acme.", "user/employer", "Acme")
    read("I left Acme in March 2025.")
    assert status(job) == EXPIRED
    assert job.valid_until == datetime(2025, 4, 1, tzinfo=UTC)


def test_what_is_taken_back_is_superseded_by_nothing(alice: User, read: Any) -> None:
    sister = know(alice, "The user's sister is a doctor.", "user/sister/job", "doctor", kind=Kind.PERSON)
    read("I misspoke, I don't have a sister.")
    assert (status(sister), sister.superseded_by) == (SUPERSEDED, None)


def test_a_value_put_in_the_place_of_a_known_one_replaces_it(alice: User, read: Any) -> None:
    old = know(alice, "The user's dog is called Biscuit.", "user/dog/name", "Biscuit", kind=Kind.ENTITY)
    read("No, Bisto, not Biscuit!")
    assert status(old) == SUPERSEDED
    new = Fact.objects.get(status=ACTIVE)
    assert (new.statement, new.key, new.value) == ("The user's dog is called Bisto.", "user/dog/name", "Bisto")
    assert old.superseded_by == new


def test_a_value_that_the_engine_finds_too_is_stored_once(alice: User, read: Any) -> None:
    know(alice, "The user lives in Nantes.", "user/home", "Nantes")
    said = "I live in Lyon, not in Nantes"
    read(said, facts=[stated("The user lives in Lyon.", said, attribute="home", value="Lyon")])
    assert facts(alice, ACTIVE) == ["The user lives in Lyon."]


def test_a_job_that_names_the_employer_ends_with_it(alice: User, read: Any) -> None:
    know(alice, "The user works at Tumaini Logistics.", "user/employer", "Tumaini Logistics")
    payroll = know(alice, "The user does payroll at Tumaini Logistics.", "user/job", "does payroll")
    said = "I work at Acacia Freight now."
    found = stated("The user works at Acacia Freight.", said, attribute="employer", value="Acacia Freight")
    read(said, facts=[found])
    assert (status(payroll), facts(alice, ACTIVE)) == (EXPIRED, ["The user works at Acacia Freight."])


def test_what_was_said_of_a_partner_ends_with_the_next_one(alice: User, read: Any) -> None:
    know(alice, "The user's boyfriend is called Óscar.", "user/partner", "Óscar", kind=Kind.PERSON)
    taste = ("óscar/taste:old_maps", "likes")
    oscar = know(alice, "The user's boyfriend Óscar likes old maps.", *taste, kind=Kind.PERSON)
    brother = know(alice, "The user's brother Colm likes old maps.", "colm/taste:old_maps", "likes", kind=Kind.PERSON)
    said = "I'm cooking for my boyfriend Ravi now."
    found = stated("The user's boyfriend is called Ravi.", said, attribute="partner", value="Ravi", correction=True)
    read(said, facts=[found])
    assert (status(oscar), status(brother)) == (EXPIRED, ACTIVE)


def test_a_job_that_names_no_employer_stays(alice: User, read: Any) -> None:
    know(alice, "The user works at Tumaini Logistics.", "user/employer", "Tumaini Logistics")
    nurse = know(alice, "The user is a nurse.", "user/job", "nurse")
    said = "I work at Acacia Freight now."
    found = stated("The user works at Acacia Freight.", said, attribute="employer", value="Acacia Freight")
    read(said, facts=[found])
    assert status(nurse) == ACTIVE


def test_review_asks_where_the_words_are_unclear_and_asks_once(alice: User, read: Any) -> None:
    cello = know(alice, "The user teaches the cello in Rome.", "", "")
    viola = know(alice, "The user plays the cello.", "mary/job", "cello", kind=Kind.PERSON)
    read("The cello is not for me any more, Mary.")
    waiting = facts(alice, PROPOSED)
    assert all(statement.startswith("It is no longer true that") for statement in waiting)
    read("The cello is not for me any more, Mary.")
    assert facts(alice, PROPOSED) == waiting
    assert {status(cello), status(viola)} <= {ACTIVE, EXPIRED}


def test_another_value_that_is_stated_explains_what_would_be_doubted(alice: User, read: Any) -> None:
    know(alice, "The user's name is Lena.", "user/name", "Lena")
    know(alice, "The user lives in Lyon.", "user/home", "Lyon")
    said = "That's wrong, I actually live in Annecy."
    read(said, facts=[stated("The user lives in Annecy.", said, attribute="home", value="Annecy")])
    assert facts(alice, PROPOSED) == ["The user lives in Annecy."]


def test_words_from_before_bring_nothing_back(alice: User, read: Any) -> None:
    home = know(alice, "The user lives in Nantes.", "user/home", "Nantes")
    old = say(alice, "I live in Nantes.")
    read("I don't live in Nantes any more.")
    assert status(home) == EXPIRED

    again = ask(old)
    run_extraction(again.pk)
    read("I moved around.", facts=[stated("The user lives in Nantes.", "not said", attribute="home", value="Nantes")])
    assert facts(alice, ACTIVE) == []


def test_a_message_from_before_the_end_is_read_later(alice: User, read: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    old = say(alice, "I live in Nantes.")
    know(alice, "The user lives in Nantes.", "user/home", "Nantes")
    read("I don't live in Nantes any more.")
    found = Extraction([stated("The user lives in Nantes.", "I live in Nantes.", attribute="home", value="Nantes")])
    monkeypatch.setattr(librarian, "choose_engine", lambda: Scripted(lambda reading: found))
    run = ask(old)
    run_extraction(run.pk)
    run.refresh_from_db()
    assert facts(alice, ACTIVE) == []
    assert run.dropped == {"no longer true by your later words": 1}


def test_a_move_back_makes_the_old_home_current(alice: User, read: Any) -> None:
    first = know(
        alice, "The user lives in Porto.", "user/home", "Porto", status=SUPERSEDED, superseded_at=timezone.now()
    )
    second = know(alice, "The user lives in Lyon.", "user/home", "Lyon")
    Fact.objects.filter(pk=first.pk).update(superseded_by=second, superseded_at=timezone.now())
    read("We're back in Porto!")
    assert (facts(alice, ACTIVE), status(second)) == (["The user lives in Porto."], SUPERSEDED)


def test_what_is_over_when_it_is_said_becomes_history_and_replaces_nothing(alice: User, read: Any) -> None:
    home = know(alice, "The user lives in Lyon.", "user/home", "Lyon")
    said = "I lived in Nantes until 2020"
    past = stated("The user lived in Nantes.", said, attribute="home", value="Nantes",
                  valid_until=datetime(2021, 1, 1, tzinfo=UTC))  # fmt: skip
    read(said, facts=[past])
    assert (status(home), facts(alice, EXPIRED)) == (ACTIVE, ["The user lived in Nantes."])


def test_newer_words_withdraw_a_waiting_proposal(alice: User, read: Any) -> None:
    said = Message.objects.filter(conversation=say(alice, "I may live in Faro")).first()
    waiting = know(alice, "The user lives in Faro.", "user/home", "Faro", status=PROPOSED, message=said)
    read("I live in Lyon.", facts=[stated("The user lives in Lyon.", "I live in Lyon", attribute="home", value="Lyon")])
    assert (status(waiting), waiting.reason) == (SUPERSEDED, "you have said something newer since")


def test_accepting_an_older_proposal_supersedes_nothing_said_later_and_can_be_undone(alice: User) -> None:
    early, late = (say(alice, text).active_leaf.parent for text in ("I lived in Faro", "I live in Lyon"))  # type: ignore[union-attr]
    waiting = know(alice, "The user lives in Faro.", "user/home", "Faro", status=PROPOSED, message=early)
    home = know(alice, "The user lives in Lyon.", "user/home", "Lyon", message=late)
    action = accept(waiting, by=alice)
    assert (status(waiting), status(home), waiting.superseded_by) == (SUPERSEDED, ACTIVE, home)
    undo(action)
    assert (status(waiting), status(home)) == (PROPOSED, ACTIVE)


@pytest.mark.parametrize(
    ("withdrawal", "counted"),
    [
        (Withdrawal(known=1, quote="I left Acme", number=1), {}),
        (Withdrawal(known=7, quote="I left Acme", number=1), {"takes back what is not known": 1}),
        (Withdrawal(known=1, quote="I was fired", number=1), {"does not rest on your own words": 1}),
    ],
    ids=["right", "wrong number", "invented quote"],
)
def test_an_engines_withdrawal_must_name_a_known_fact_and_the_users_words(
    alice: User, read: Any, withdrawal: Withdrawal, counted: dict[str, int]
) -> None:
    fact = know(alice, "The user plays chess with colleagues.", "", "")
    run = read("So I left Acme and everything with it, at last.", ends=[withdrawal])
    assert (status(fact) == EXPIRED, run.dropped) == (not counted, counted)


def test_a_rejected_doubt_is_not_asked_again_of_the_same_words(alice: User, read: Any) -> None:
    know(alice, "The user plays the cello.", "mary/job", "cello", kind=Kind.PERSON)
    know(alice, "The user teaches the cello in Rome.", "", "")
    run = read("The cello is not for me any more, Mary.")
    for doubt in Fact.objects.filter(status=PROPOSED):
        reject(doubt, by=alice)
    LibrarianRun.objects.filter(pk=run.pk).update(state="pending", not_before=timezone.now())
    run_extraction(run.pk)
    assert facts(alice, PROPOSED) == []


def test_a_denied_fact_ends_though_what_is_so_instead_waits(alice: User, read: Any) -> None:
    nuts = know(alice, "The user is allergic to walnuts.", "user/allergy:walnuts", "yes", kind=Kind.CONSTRAINT)
    said = "no no, pecans, not walnuts"
    read(said, facts=[stated("The user is allergic to pecans.", said, kind=Kind.CONSTRAINT, attribute="allergy:pecans",
                             value="yes", health=True)])  # fmt: skip
    assert (status(nuts), facts(alice, PROPOSED)) == (EXPIRED, ["The user is allergic to pecans."])


def test_a_waiting_value_that_newer_words_replace_is_history_while_both_wait(alice: User, read: Any) -> None:
    said = Message.objects.filter(conversation=say(alice, "Tom lives in Ghent")).first()
    waiting = know(alice, "Tom lives in Ghent.", "tom/home", "Ghent", kind=Kind.PERSON, status=PROPOSED, message=said)
    read("Tom doesn't live in Ghent, he lives in Aalst")
    assert (status(waiting), facts(alice, PROPOSED)) == (SUPERSEDED, ["Tom lives in Aalst."])
    assert waiting.superseded_by is not None


def test_an_earlier_fact_without_a_key_is_revived_by_its_name(alice: User, read: Any) -> None:
    old = know(alice, "The user keeps recipes in Paprika.", status=SUPERSEDED, superseded_at=timezone.now())
    new = know(alice, "The user keeps recipes in Evernote.")
    Fact.objects.filter(pk=old.pk).update(superseded_by=new)
    read("gone back to Paprika, Evernote got too slow")
    assert (facts(alice, ACTIVE), status(new)) == (["The user keeps recipes in Paprika."], SUPERSEDED)


def test_a_home_ends_one_that_other_words_gave_without_a_key(alice: User, read: Any) -> None:
    other = know(alice, "The user rents a room in Delft.")
    cousin = know(alice, "The user's cousin rents a room in Delft.")
    said = "I live in Breda now"
    read(said, facts=[stated("The user lives in Breda.", said, attribute="home", value="Breda")])
    assert (status(other), status(cousin)) == (EXPIRED, ACTIVE)


def test_a_new_home_ends_what_repeats_the_old_one_with_more_words(alice: User, read: Any) -> None:
    chat = say(alice, "I live in a tiny flat in Brno, 3rd floor, and work at Initech.")
    said = Message.objects.filter(conversation=chat, role="user").values_list("pk", flat=True)[0]
    home = know(alice, "The user lives in Brno.", "user/home", "Brno", message_id=said, confidence=0.8)
    flat = know(alice, "The user is in a tiny flat in Brno, second winter here.", message_id=said)
    more = know(alice, "The user lives in Brno and works at Initech.", message_id=said)
    cold = know(alice, "The back room of the user's flat in Brno is freezing.", message_id=said)
    stove = know(alice, "The stove here in Brno smokes.", message_id=said)
    other = know(alice, "The user likes the trams of Brno.")
    dana = know(alice, "Dana is the user's colleague in Brno.", message_id=said)

    read("I moved to Graz.", facts=[stated("The user lives in Graz.", "I moved to Graz", subject="user",
         attribute="home", value="Graz")])  # fmt: skip

    assert [status(fact) for fact in (home, flat, cold, stove)] == [SUPERSEDED, EXPIRED, EXPIRED, EXPIRED]
    assert [status(fact) for fact in (more, other, dana)] == [ACTIVE, ACTIVE, ACTIVE]


def test_a_statement_in_other_words_replaces_a_waiting_one(alice: User, read: Any) -> None:
    said = Message.objects.filter(conversation=say(alice, "the spare key is in the shed")).first()
    waiting = know(alice, "The spare key is kept in the shed.", status=PROPOSED, message=said)
    read("the spare key is now kept in the safe",
         facts=[stated("The spare key is now kept in the safe.", "the spare key is now kept in the safe",
                       confidence=0.7)])  # fmt: skip
    assert status(waiting) == SUPERSEDED


def test_of_a_list_only_the_part_that_ended_goes(alice: User, read: Any) -> None:
    know(alice, "The user has a greenhouse and a beehive in the yard.")
    read("We gave up the greenhouse in spring.")
    assert facts(alice, ACTIVE) == ["The user has a beehive in the yard."]


def test_another_value_makes_what_waits_no_surer(alice: User, read: Any) -> None:
    know(alice, "The user has a pottery class on Tuesday.", status=PROPOSED, confidence=0.6)
    read("oops no, the pottery class is not on Tuesday, it's on Thursday")
    assert not facts(alice, ACTIVE)


def test_two_people_of_one_name_keep_their_homes(alice: User, read: Any) -> None:
    uncle = know(alice, "The user's uncle Ibrahim lives in Kaduna.", "ibrahim/home", "Kaduna")
    said = "my client Ibrahim lives in Ibadan"
    read(said, facts=[stated("The user's client Ibrahim lives in Ibadan.", said, subject="ibrahim", attribute="home",
                             value="Ibadan")])  # fmt: skip
    assert status(uncle) == ACTIVE
