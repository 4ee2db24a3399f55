"""The page of one fact: where it comes from, what was decided, where it stands; rewording and retiring it."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from accounts.models import User
from budget.models import Receipt
from chat.models import Conversation, Message
from memory.documents import revisions
from memory.documents.profile import profile_lines
from memory.documents.profile_updates import refresh_profile
from memory.facts.links import Relation, link
from memory.facts.validity import OVER
from memory.librarian.decision import Reason
from memory.models import Episode, Fact, FactLink, ReviewAction
from memory.pages.labels import NEVER_FADES, freshness, sureness
from memory.review import decisions

type SignIn = Callable[[User], Client]

SAID = "I had a long day. My sister Mary lives in Lisbon and I'm allergic to peanuts."
QUOTE = "My sister Mary lives in Lisbon"
ATTACK = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'


def say(user: User, text: str = SAID) -> Message:
    conversation = Conversation.objects.create(user=user, title="Cooking")
    message: Message = Message.objects.create(
        user=user, conversation=conversation, seq=1, turn=1, role="user", event_type="user_message", text=text
    )
    return message


def know(user: User, statement: str, **fields: Any) -> Fact:
    fields = {"status": Fact.Status.ACTIVE, "confidence": 0.9, "tokens": 9, **fields}
    made: Fact = Fact.objects.create(user=user, statement=statement, **fields)
    return made


def answer(question: Message) -> Message:
    made: Message = Message.objects.create(
        user=question.user, conversation=question.conversation, seq=question.seq + 1, turn=question.turn, text="Well.",
        role="assistant", event_type="assistant_response", parent=question,
    )  # fmt: skip
    return made


def receipt(message: Message, *items: dict[str, Any], **fields: Any) -> Receipt:
    made: Receipt = Receipt.objects.create(
        user=message.user, conversation=message.conversation, message=message, turn=message.turn, model="m",
        plan="standard", plan_total=1, items=list(items), request_digest="0" * 64, **{"input_tokens": 100, **fields},
    )  # fmt: skip
    return made


def item(fact: Fact, *, kept: bool = True, **fields: Any) -> dict[str, Any]:
    given = {"ref": fact.ref, "section": "memories", "label": fact.statement, "tokens": fact.tokens, "kept": kept}
    parts = {"keyword": 0.5, "semantic": 0.75}
    return {**given, "score": 0.6, "parts": parts, "rule": "" if kept else "beyond top-K", "url": "", **fields}


def page_of(client: Client, fact: Fact) -> str:
    response = client.get(f"/memory/facts/{fact.pk}")
    assert response.status_code == 200
    return response.content.decode()


# Where it comes from ---------------------------------------------------------------------------------------------


def test_a_fact_stands_with_its_words_where_they_were_said(alice: User, sign_in: SignIn) -> None:
    message = say(alice)
    page = page_of(sign_in(alice), know(alice, "The user's sister Mary lives in Lisbon.", message=message, quote=QUOTE))

    assert f'I had a long day. <mark class="mark">{QUOTE}</mark> and I&#x27;m allergic to peanuts.' in page
    assert f'href="/messages/{message.pk}"' in page or f"/{message.pk}" in page
    assert "You said so" in page
    assert "<dt>Certainty</dt><dd>Quite sure</dd>" in page
    assert "<dd>Never fades</dd>" in page
    assert "<dd>For 0 answers</dd>" in page


@pytest.mark.parametrize(
    ("source", "reason", "whence"),
    [
        ("stated", Reason.STATED, "You said so"),
        ("stated", Reason.ASK_KIND, "You said so"),
        ("edited", Reason.STATED, "Your own wording"),
        ("inferred", Reason.UNSURE, "Inferred from what you said"),
    ],
)
def test_where_it_comes_from_is_said_once_and_why_it_was_kept_beside_it(
    alice: User, sign_in: SignIn, source: str, reason: Reason, whence: str
) -> None:
    fact = know(alice, "The user bakes bread.", source=source, reason=reason)
    client = sign_in(alice)
    for page in (page_of(client, fact), client.get("/memory/about").content.decode()):
        assert page.count(whence) == 1
        assert page.casefold().count(escape(reason).casefold()) == 1
        assert page.casefold().count("you said so") <= 1


def test_the_words_of_a_deleted_conversation_are_not_shown_around_the_quote(alice: User, sign_in: SignIn) -> None:
    message = say(alice)
    fact = know(alice, "The user's sister Mary lives in Lisbon.", message=message, quote=QUOTE)
    Conversation.objects.filter(pk=message.conversation_id).update(deleted_at=message.created_at)

    page = page_of(sign_in(alice), fact)

    assert QUOTE in page
    assert "allergic to peanuts" not in page
    assert "The original message was deleted." in page


def test_what_it_took_the_place_of_is_shown_with_its_words_and_who_decided(alice: User, sign_in: SignIn) -> None:
    porto = know(
        alice,
        "The user lives in Porto.",
        kind="biography",
        key="user/home",
        quote="I live in Porto",
        message=say(alice, "Well, I live in Porto."),
    )
    lisbon = know(alice, "The user lives in Lisbon.", kind="biography", key="user/home", status=Fact.Status.PROPOSED)
    decisions.accept(lisbon, by=alice)
    client = sign_in(alice)

    now, before = page_of(client, lisbon), page_of(client, porto)

    assert "Replaced:" in now
    assert f'href="/memory/facts/{porto.pk}"' in now
    assert 'Well, <mark class="mark">I live in Porto</mark>.' in now
    assert "Accepted" in now
    assert "by you" in now
    assert "Replaced by:" in before
    assert '<span class="badge">Replaced</span>' in before
    assert f'href="/memory/facts/{lisbon.pk}"' in before


def test_the_lines_and_episodes_that_tell_it_are_named(alice: User, sign_in: SignIn) -> None:
    fact = know(alice, "The user sings in a choir.")
    revisions.save(alice, "/projects/choir", f"- Sings in a choir. ^fact-{fact.pk}", "librarian", started_from=0)
    Episode.objects.create(user=alice, title="The first rehearsal", summary="It went well.").facts.add(fact)

    page = page_of(sign_in(alice), fact)

    assert 'href="/memory/documents/projects/choir"' in page
    assert "“Sings in a choir.”" in page
    assert "The first rehearsal" in page


# Where it was recalled -------------------------------------------------------------------------------------------


def test_the_prompts_it_stood_in_and_was_cut_from_are_listed(alice: User, sign_in: SignIn) -> None:
    fact, other = know(alice, "The user sings in a choir."), know(alice, "Something else.")
    receipt(answer(say(alice, "- When do **I** sing?")), item(fact), item(other))
    receipt(answer(say(alice, "What do I like?")), item(other), item(fact, kept=False))
    receipt(answer(say(alice, "Unrelated?")), item(other))

    page = page_of(sign_in(alice), fact)

    assert "Sent for 1 answer." in page
    assert "Left out of 1 in the last 90 days." in page
    assert "When do I sing?" in page
    assert "others matched better" in page
    assert "Unrelated?" not in page


def test_what_hangs_on_a_fact_costs_no_more_statements(
    alice: User, sign_in: SignIn, django_assert_max_num_queries: Any
) -> None:
    message = say(alice)
    fact = know(alice, "The user sings in a choir.", message=message, quote="choir")
    client = sign_in(alice)
    page_of(client, fact)  # the first request of a session is noted
    for n in range(20):
        other = know(alice, f"Fact {n}.", superseded_by=fact, status="superseded", message=message, quote="day")
        link(alice.pk, fact.pk, Relation.SUPERSEDES, other.pk, 1.0)
        ReviewAction.objects.create(user=alice, fact=fact, verb="accept", by=alice, before={str(fact.pk): {}})
        receipt(answer(say(alice, f"Question {n}?")), item(fact))
    with django_assert_max_num_queries(24):
        page_of(client, fact)


def test_nothing_of_it_is_markup(alice: User, sign_in: SignIn) -> None:
    fact = know(alice, ATTACK, message=say(alice, ATTACK), quote=ATTACK, key="user/home", value=ATTACK, tags=["<b>"])
    link(alice.pk, fact.pk, Relation.RELATED_TO, know(alice, ATTACK + "2").pk, 0.5)
    receipt(answer(say(alice, ATTACK)), item(fact))

    page = page_of(sign_in(alice), fact)

    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<b>" not in page
    assert " style=" not in page


def test_another_persons_fact_does_not_exist(alice: User, bob: User, sign_in: SignIn) -> None:
    fact = know(alice, "Secret.")
    assert sign_in(bob).get(f"/memory/facts/{fact.pk}").status_code == 404
    assert sign_in(bob).post(f"/memory/facts/{fact.pk}/correct", {"statement": "Stolen."}).status_code == 404


# What may be done with it ----------------------------------------------------------------------------------------


def test_a_fact_in_use_is_reworded_and_the_old_wording_becomes_history(alice: User, sign_in: SignIn) -> None:
    old = know(alice, "The user lives in Porto.", kind="biography", key="user/home", value="Porto", importance=0.7)

    response = sign_in(alice).post(
        f"/memory/facts/{old.pk}/correct", {"statement": " The user lives\nin Lisbon. ", "value": "Lisbon"}
    )

    new = Fact.objects.get(superseded_at=None)
    assert response["Location"] == f"/memory/facts/{new.pk}"
    assert (new.statement, new.value, new.key, new.source, new.confidence) == (
        "The user lives in Lisbon.",
        "Lisbon",
        "user/home",
        "edited",
        1.0,
    )
    assert (new.status, new.importance, new.embedded_by != "") == ("active", 0.7, True)
    old.refresh_from_db()
    assert (old.status, old.superseded_by) == ("superseded", new)


def test_the_source_of_an_edit_is_what_the_user_typed(alice: User, sign_in: SignIn) -> None:
    old = know(alice, "The user moved here in 2024.", kind="biography")
    client, typed = sign_in(alice), "I moved from Oslo to Bergen in 2024"

    page = client.post(f"/memory/facts/{old.pk}/correct", {"statement": typed}, follow=True).content.decode()

    new = Fact.objects.get(superseded_at=None)
    assert (new.statement, new.quote) == ("The user moved from Oslo to Bergen in 2024", typed)
    assert f'<mark class="mark">{typed}</mark>' in page
    assert "The old wording is under Before and after." in page
    before_and_after = page[page.index(">Before and after</h2>") :]
    assert f'href="/memory/facts/{old.pk}"' in before_and_after


def test_undoing_a_rewording_gives_the_old_one_its_place_back_and_shows_it(alice: User, sign_in: SignIn) -> None:
    old = know(alice, "The user lives in Porto.", kind="biography", key="user/home", value="Porto")
    action = decisions.correct(old, "The user lives in Lisbon.", "Lisbon", by=alice)

    response = sign_in(alice).post(f"/memory/review/actions/{action.pk}/undo", {"page": "fact"})

    assert response["Location"] == f"/memory/facts/{old.pk}"
    old.refresh_from_db()
    assert old.status == Fact.Status.ACTIVE
    assert Fact.objects.get(pk=action.fact_id).status == Fact.Status.REJECTED


@pytest.mark.parametrize(
    ("statement", "status", "sentence"),
    [
        ("", 422, "Enter a statement."),
        ("The user lives in Porto.", 409, "it already says that"),
        ("My password is hunter2-Xy99!", 409, "Recall never remembers those"),
    ],
)
def test_words_that_cannot_be_taken_come_back_with_the_reason(
    alice: User, sign_in: SignIn, statement: str, status: int, sentence: str
) -> None:
    fact = know(alice, "The user lives in Porto.")

    response = sign_in(alice).post(f"/memory/facts/{fact.pk}/correct", {"statement": statement})

    assert response.status_code == status
    assert sentence in response.content.decode()
    assert Fact.objects.count() == 1


def test_a_fact_that_is_history_is_not_reworded(alice: User, sign_in: SignIn) -> None:
    fact = know(alice, "The user lives in Porto.", status=Fact.Status.SUPERSEDED)
    response = sign_in(alice).post(f"/memory/facts/{fact.pk}/correct", {"statement": "Other words."})
    assert response.status_code == 409
    assert "it is now replaced" in response.content.decode()


def test_retiring_leads_back_to_the_fact_where_it_can_be_undone(alice: User, sign_in: SignIn) -> None:
    fact, client = know(alice, "The user sings in a choir."), sign_in(alice)

    response = client.post(f"/memory/review/{fact.pk}/reject", {"page": "fact"})

    assert response["Location"] == f"/memory/facts/{fact.pk}"
    action = ReviewAction.objects.get()
    assert f'action="/memory/review/actions/{action.pk}/undo"' in page_of(client, fact)
    client.post(f"/memory/review/actions/{action.pk}/undo", {"page": "fact"})
    fact.refresh_from_db()
    assert fact.status == Fact.Status.ACTIVE


# When it is true -------------------------------------------------------------------------------------------------


def date_it(client: Client, fact: Fact, since: str, until: str, **fields: str) -> Any:
    """Send the editor as it stands, with these days."""
    days = {"valid_from": since, "valid_until": until}
    return client.post(f"/memory/facts/{fact.pk}/correct", {"statement": fact.statement, **days, **fields})


def test_the_days_a_fact_is_true_on_are_whole_days_where_the_person_is(alice: User, sign_in: SignIn) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Asia/Tokyo")
    fact, client = know(alice, "The user rents a garden.", quote="I rent a garden"), sign_in(alice)

    response = date_it(client, fact, "2024-03-01", "2190-05-31")

    assert response["Location"] == f"/memory/facts/{fact.pk}", "the same fact, with the words it rests on"
    fact.refresh_from_db()
    assert (fact.status, fact.quote) == ("active", "I rent a garden")
    assert fact.valid_from == datetime(2024, 2, 29, 15, tzinfo=UTC)
    assert fact.valid_until == datetime(2190, 5, 31, 15, tzinfo=UTC) - timedelta(microseconds=1)
    page = page_of(client, fact)
    assert 'name="valid_from" value="1 March 2024"' in page
    assert 'name="valid_until" value="31 May 2190"' in page, "the days beyond this century can be saved again"
    assert "<dt>True until</dt><dd>31 May 2190</dd>" in page


def test_a_fact_that_ended_leaves_the_prompt_at_once_and_its_line_goes(alice: User, sign_in: SignIn) -> None:
    fact = know(alice, "The user lives in Porto.", kind="biography", key="user/home", value="Porto", importance=0.8)
    refresh_profile(alice)
    assert fact.ref in [line.ref for line in profile_lines(alice)]

    date_it(sign_in(alice), fact, "", "2025-12-31")

    fact.refresh_from_db()
    assert (fact.status, fact.reason) == ("expired", OVER)
    assert not [line for line in profile_lines(alice) if "Porto" in line.text]
    assert not Fact.objects.active().filter(pk=fact.pk).exists()


def test_a_fact_that_ends_later_holds_until_then(alice: User, sign_in: SignIn) -> None:
    fact = know(alice, "The user lives in Porto.", kind="biography", key="user/home", value="Porto", importance=0.8)
    today = timezone.now().date().isoformat()
    date_it(sign_in(alice), fact, "", today)
    assert Fact.objects.active().filter(pk=fact.pk).exists(), "on its last day it is true still"


def test_other_words_and_other_days_are_taken_together(alice: User, sign_in: SignIn) -> None:
    old = know(alice, "The user lives in Porto.", kind="biography", key="user/home", value="Porto")
    date_it(sign_in(alice), old, "2020-01-01", "", statement="The user lives in Lisbon.", value="Lisbon")
    new = Fact.objects.get(superseded_at=None)
    assert (new.statement, new.valid_from, new.valid_until) == (
        "The user lives in Lisbon.",
        datetime(2020, 1, 1, tzinfo=UTC),
        None,
    )


def test_words_alone_leave_the_days_as_they_are(alice: User, sign_in: SignIn) -> None:
    began = datetime(2020, 1, 1, 9, 30, tzinfo=UTC)
    old = know(alice, "The user lives in Porto.", valid_from=began)
    date_it(sign_in(alice), old, "2020-01-01", "", statement="The user lives in Lisbon.")
    assert Fact.objects.get(superseded_at=None).valid_from == began


@pytest.mark.parametrize(
    ("since", "until", "status", "sentence"),
    [
        ("2025-05-02", "2025-05-01", 409, "“True until” is before “True from”"),
        ("some day", "", 422, "“True from” isn&#x27;t a date Recall can read"),
        ("", "0001-01-01", 422, "“True until” must be between 1900 and 2200."),
        ("", "", 409, "it already says that"),
    ],
)
def test_days_that_cannot_be_taken_come_back_with_the_reason(
    alice: User, sign_in: SignIn, since: str, until: str, status: int, sentence: str
) -> None:
    fact = know(alice, "The user rents a garden.")
    response = date_it(sign_in(alice), fact, since, until)
    assert response.status_code == status
    assert sentence in response.content.decode()
    if since:
        assert f'value="{since}"' in response.content.decode()
    fact.refresh_from_db()
    assert (fact.valid_from, fact.valid_until) == (None, None)


def test_a_year_alone_is_all_of_it(alice: User, sign_in: SignIn) -> None:
    fact = know(alice, "The user lived in Rome.")
    date_it(sign_in(alice), fact, "2024", "2025")
    fact.refresh_from_db()
    since, until = (moment.astimezone(alice.zone).date() for moment in (fact.valid_from, fact.valid_until) if moment)
    assert (since, until) == (date(2024, 1, 1), date(2025, 12, 31))


def test_a_day_on_which_it_both_began_and_ended_is_taken(alice: User, sign_in: SignIn) -> None:
    fact = know(alice, "The user was in Rome.", kind="event")
    assert date_it(sign_in(alice), fact, "2025-05-01", "2025-05-01").status_code == 302


def test_saying_by_mistake_that_it_ended_is_undone_or_said_otherwise(alice: User, sign_in: SignIn) -> None:
    fact, client = know(alice, "The user rents a garden.", reason="why"), sign_in(alice)
    date_it(client, fact, "", "2025-05-01")
    client.post(f"/memory/review/actions/{ReviewAction.objects.get().pk}/undo", {"page": "fact"})
    fact.refresh_from_db()
    assert (fact.status, fact.reason, fact.valid_until) == ("active", "why", None)

    date_it(client, fact, "", "2025-05-01")
    date_it(client, fact, "", "")
    fact.refresh_from_db()
    assert (fact.status, fact.valid_until) == ("active", None)


def test_a_fact_that_is_not_true_yet_says_so(alice: User, sign_in: SignIn) -> None:
    fact, client = know(alice, "The user lives in Lisbon."), sign_in(alice)
    html = client.post(
        f"/memory/facts/{fact.pk}/correct", {"statement": fact.statement, "valid_from": "2190-01-01"}, follow=True
    ).content.decode()
    assert "Not true yet" in html
    assert "Answers will use it from that day" in html


# Figures in words, pure ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("confidence", "words"),
    [(1.0, "certain"), (0.8, "quite sure"), (0.79, "fairly sure"), (0.1, "not sure"), (0.0, "not sure")],
)
def test_certainty_is_said_in_words(confidence: float, words: str) -> None:
    assert sureness(confidence) == words


def test_only_what_nobody_vouched_for_fades(alice: User) -> None:
    now = timezone.now()
    long_ago = now - timedelta(days=60)
    assert freshness(Fact(source="inferred", recorded_at=now), now) == "fresh"
    assert freshness(Fact(source="inferred", recorded_at=now - timedelta(days=25)), now) == "fading"
    assert freshness(Fact(source="inferred", recorded_at=long_ago), now) == "faint"
    assert freshness(Fact(source="inferred", recorded_at=long_ago, status="archived"), now) == "faded"
    for vouched in ({"source": "stated"}, {"source": "edited"}, {"accepted_at": now}, {"key": "user/home"}):
        assert freshness(Fact(recorded_at=long_ago, **{"source": "inferred", **vouched}), now) == NEVER_FADES


def test_facts_are_linked_and_unlinked_on_the_page(alice: User, bob: User, sign_in: SignIn) -> None:
    client, bread, oven = sign_in(alice), know(alice, "The user bakes bread."), know(alice, "The user has an oven.")
    theirs = know(bob, "The user keeps bees.")
    assert "You have an oven." in page_of(client, bread)
    assert "bees" not in page_of(client, bread)

    client.post(f"/memory/facts/{bread.pk}/link", {"to": oven.pk, "relation": "depends_on"})
    assert f"/memory/facts/{bread.pk}/unlink/{oven.pk}" in page_of(client, bread)
    assert client.post(f"/memory/facts/{bread.pk}/link", {"to": theirs.pk, "relation": "part_of"}).status_code == 404
    assert client.post(f"/memory/facts/{bread.pk}/link", {"to": oven.pk, "relation": "supersedes"}).status_code == 422
    assert [one.relation for one in FactLink.objects.for_user(alice)] == ["depends_on"]

    client.post(f"/memory/facts/{oven.pk}/unlink/{bread.pk}")
    assert not FactLink.objects.for_user(alice).exists()
    assert client.post(f"/memory/facts/{oven.pk}/unlink/{bread.pk}").status_code == 404
