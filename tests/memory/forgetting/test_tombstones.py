"""What was forgotten is recognized when it comes in again, and nothing else is."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from memory import tombstones
from memory.documents import revisions, uploads
from memory.documents.folder_sync import sync_files
from memory.forgetting.execute import forget
from memory.forgetting.targets import Target, What
from memory.librarian.decision import Decision, Outcome, Reason, decide
from memory.librarian.engine import ProposedFact
from memory.librarian.policies import policy_for
from memory.librarian.remember import propose_from_assistant
from memory.models import Chunk, Document, Fact, ForgetList, Forgetting, Tombstone
from memory.models.kinds import Kind
from memory.ports.source import Utterance, get_source
from memory.review import decisions
from memory.review.merge import merge
from memory.review.undo import RefusedError
from recall.redaction import FORGOTTEN
from tests.memory.forgetting.conversation import QUOTE, SAID, STATEMENT, Told
from tests.memory.review.test_decisions import propose

pytestmark = pytest.mark.django_db

WORDS = st.lists(st.sampled_from(("the", "user", "keeps", "a", "blue", "boat", "in", "Vigo", "daily")), min_size=1)


@pytest.fixture
def forgotten(told: Told) -> Told:
    """Alice had the fact about her cousin forgotten."""
    forget(told.user, Target(What.FACT, str(told.fact.pk)), by=told.user)
    return told


def listed(user: User, *texts: str) -> None:
    for text in texts:
        found = {phrase for _, phrase in tombstones.identifiers_of(text)}
        tombstones.record(user.pk, {*tombstones.phrases_of(text, tombstones.MIN_PHRASE), *found}, None)


def proposal(statement: str, quote: str, **more: Any) -> ProposedFact:
    return ProposedFact(
        statement=statement, kind=Kind.PERSON, quote=quote, number=1, confidence=0.9, importance=0.6, **more
    )


# Recognizing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I live in Lisbon.", f"{FORGOTTEN}."),
        ("Alice: i LIVE in\nLisbon, near the river", f"Alice: {FORGOTTEN}, near the river"),
        ("He said “I live in Lisbon”. I live in Porto.", f"He said “{FORGOTTEN}”. I live in Porto."),
        ("I live in Lisbonville", "I live in Lisbonville"),
        ("I do not live in Lisbon", "I do not live in Lisbon"),
    ],
)
def test_a_forgotten_phrase_is_masked_wherever_it_is_and_its_neighbors_stay(alice: User, text: str, left: str) -> None:
    listed(alice, "I live in Lisbon")
    assert tombstones.mask(alice.pk, text) == left


@pytest.mark.parametrize("spelled", ["KV-7291-QRTX", "kv7291qrtx", "KV 7291 QRTX", "KV_7291.QRTX", "x-KV-7291-QRTX"])
def test_a_forgotten_identifier_is_known_in_any_spelling_and_sentence(alice: User, spelled: str) -> None:
    listed(alice, "My locker code is KV-7291-QRTX")
    assert tombstones.mask(alice.pk, f"Try {spelled} on the door").endswith(f"{FORGOTTEN} on the door")


@pytest.mark.parametrize("text", ["The 7291 files", "KV is a company", "a raven", "42 tasks", "raven@example.com"])
def test_parts_of_an_identifier_are_no_identifier(alice: User, text: str) -> None:
    listed(alice, "The code KV-7291-QRTX and the code raven-42", "Write to raven.black@example.com")
    assert tombstones.mask(alice.pk, text) == text


@pytest.mark.parametrize(
    "text",
    [
        "The user's aunt Zoë lives in Zu\u0308rich",
        "The user's aunt Zo\u200be\u0308 lives in Zü\u00adrich",
        "The user's aunt \u202aZoë\u202c lives in \u2060Zürich\ufeff",
    ],
)
def test_accents_and_what_shows_nothing_hide_no_forgotten_phrase(alice: User, text: str) -> None:
    listed(alice, "The user's aunt Zoë lives in Zürich")
    assert tombstones.mask(alice.pk, f"Well. {text}!").startswith(f"Well. {FORGOTTEN}")
    assert tombstones.load(alice.pk).forgotten_at(text)


def test_what_shows_nothing_hides_no_forgotten_address(alice: User) -> None:
    listed(alice, "write to zoe@example.com")
    assert tombstones.mask(alice.pk, "to zo\u200be@exam\u00adple.com") == f"to {FORGOTTEN}"


def test_what_one_user_forgot_is_nothing_to_another(alice: User, bob: User) -> None:
    listed(alice, "I live in Lisbon")
    assert tombstones.mask(bob.pk, "I live in Lisbon") == "I live in Lisbon"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(forgotten=WORDS, around=WORDS)
def test_a_masked_text_has_no_forgotten_phrase_left_and_masking_it_again_changes_nothing(
    alice: User, forgotten: list[str], around: list[str]
) -> None:
    Tombstone.objects.all().delete()
    phrase = " ".join(forgotten)
    listed(alice, phrase)
    left = tombstones.mask(alice.pk, " ".join([*around, *forgotten, *around]))
    assert tombstones.mask(alice.pk, left) == left
    assert (FORGOTTEN in left) == any(tombstones.phrases_of(phrase, tombstones.MIN_PHRASE))


def test_the_list_has_no_words_and_its_key_is_not_in_the_table(alice: User) -> None:
    from django.db import connection

    listed(alice, "I live in Lisbon")
    with connection.cursor() as cursor:
        cursor.execute("SELECT key FROM memory_forgetlist")
        ((stored,),) = cursor.fetchall()
    assert ForgetList.objects.get().key not in stored
    assert all(len(row.digest) == 32 and row.words == 4 for row in Tombstone.objects.all())


# Every writer ----------------------------------------------------------------------------------------------------


def test_the_user_is_asked_when_they_say_it_again_and_no_older_message_brings_it_back(forgotten: Told) -> None:
    user, policy = forgotten.user, policy_for(forgotten.user)
    anew = proposal("The user's cousin moved away.", QUOTE)
    keyed = proposal(
        "Quill is in Zanzibar.", "Quill, my cousin, is in Zanzibar", subject="user/cousin", attribute="home",
        value="zanzibar",
    )  # fmt: skip
    for fact in (anew, keyed):
        before, after = (
            decide(fact, [Utterance(9, 1, "user", fact.quote, timezone.now() + ago)], [], policy)
            for ago in (timedelta(days=-1), timedelta(days=1))
        )
        assert before == Decision(Outcome.DROP, Reason.FORGOTTEN)
        assert (after.outcome, after.reason) == (Outcome.PROPOSE, Reason.FORGOTTEN_ANEW)
    assert decide(anew, [], [], policy_for(User.objects.create_user("dora@example.org"))).reason == Reason.NOT_QUOTED
    assert not Fact.objects.for_user(user).filter(statement=STATEMENT).exists()


def test_import_upload_sync_and_assistants_bring_nothing_back(forgotten: Told) -> None:
    user, at = forgotten.user, timezone.now() - timedelta(days=9)
    source = get_source()
    (imported, _) = source.import_conversation(
        user, QUOTE, [Utterance(0, 1, "user", SAID, at), Utterance(0, 2, "assistant", "Nice!", at)]
    )
    uploads.process_upload(uploads.accept(user, "talk.txt", SAID.encode()).pk)
    sync_files(user, [("talk.md", "talk.md", f"# Talk\n\nAlice: {SAID}\n".encode())], origin="test")
    assert "forgotten" in propose_from_assistant("Another", user, STATEMENT)
    texts = [*Document.objects.for_user(user).values_list("text", flat=True)]
    texts += [*Chunk.objects.for_user(user).values_list("text", flat=True)]
    assert not any("Zanzibar" in text or "Quillfeather" in text for text in texts)
    assert sum(f"Guess what. {FORGOTTEN}, and I am learning to bake bread." in text for text in texts) >= 4
    assert imported


def test_a_text_written_by_hand_is_refused_until_it_is_allowed_again(
    forgotten: Told, sign_in: Callable[[Any], Client]
) -> None:
    user = forgotten.user
    with pytest.raises(tombstones.ForgottenTextError):
        revisions.save(user, "/profile/identity", f"{QUOTE}.", started_from=_newest(user))
    with pytest.raises(RefusedError, match="allow it again"):
        decisions.correct(forgotten.bread, STATEMENT, by=user)
    client = sign_in(user)
    assert "Allow again" in client.get(reverse("memory:forgotten")).content.decode()
    client.post(reverse("memory:allow_again", args=[Forgetting.objects.get().pk]))
    assert "Allow again" not in client.get(reverse("memory:forgotten")).content.decode()
    assert QUOTE in revisions.save(user, "/profile/identity", f"{QUOTE}.", started_from=_newest(user)).text


def _newest(user: User) -> int:
    document = Document.objects.for_user(user).get(path="/profile/identity")
    newest = revisions.newest_revision(document)
    return newest.number if newest else 0


@pytest.mark.parametrize("wording", [STATEMENT, "The user's card is 4111 1111 1111 1111."])
def test_a_proposal_is_not_reworded_into_what_was_forgotten_or_a_secret(forgotten: Told, wording: str) -> None:
    kites = [propose(forgotten.user, f"The user has a {color} kite.") for color in ("red", "blue")]
    with pytest.raises(RefusedError):
        decisions.edit(kites[0], wording, by=forgotten.user)
    with pytest.raises(RefusedError):
        merge(kites, kites[0], wording, by=forgotten.user)
    kites[0].refresh_from_db()
    assert (kites[0].status, kites[0].statement) == (Fact.Status.PROPOSED, "The user has a red kite.")


def test_accepting_it_again_takes_it_off_the_list_and_into_recall(forgotten: Told) -> None:
    from memory.index.indexer import reindex

    said = forgotten.neighbour
    type(said).objects.filter(pk=said.pk).update(text=f"{QUOTE}, as I said.")
    reindex(said.conversation_id, [said.pk])
    assert Chunk.objects.get(message=said).text == f"{FORGOTTEN}, as I said."
    fact = Fact.objects.create(user=forgotten.user, statement=STATEMENT, quote=QUOTE, message=said)
    decisions.accept(fact, by=forgotten.user)
    assert Chunk.objects.get(message=said).text == f"{QUOTE}, as I said."
    assert tombstones.mask(forgotten.user.pk, STATEMENT) == STATEMENT
