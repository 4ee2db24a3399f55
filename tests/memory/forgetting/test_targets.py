"""Everything that can be forgotten: message, conversation, document, episode, topic, and all of it."""

from typing import Any

import pytest

from accounts.models import User
from budget.models import UsageDay
from chat.evaluation.stores import tables_with
from chat.models import Conversation, Message
from memory.documents.revisions import DocumentChangedError, save
from memory.forgetting.execute import forget, preview
from memory.forgetting.residue import owned_models
from memory.forgetting.targets import NothingThereError, Target, What
from memory.models import Document, Episode, Fact, Forgetting
from memory.ports.forgettable import BusyError
from recall.redaction import FORGOTTEN
from tests.memory.forgetting.conversation import BREAD, SAID, WORDS, Told, learn, tell
from tests.memory.librarian.test_run import learn as read

pytestmark = pytest.mark.django_db


def test_a_forgotten_message_takes_its_facts_and_its_answer_along(told: Told) -> None:
    forget(told.user, Target(What.MESSAGE, str(told.source.pk)), by=told.user)

    assert tables_with(*WORDS, SAID, "bake bread") == {}
    assert set(Message.objects.filter(pk__in=[told.source.pk, told.reply.pk]).values_list("text", flat=True)) == {
        FORGOTTEN
    }
    assert not Fact.objects.filter(pk__in=[told.fact.pk, told.bread.pk]).exists()


def test_a_forgotten_conversation_takes_along_what_was_learned_from_it(told: Told) -> None:
    forget(told.user, Target(What.CONVERSATION, str(told.conversation.pk)), by=told.user)

    assert not Conversation.objects.filter(pk=told.conversation.pk).exists()
    assert not Document.objects.under("/artifacts").exists()
    assert tables_with(*WORDS) == {}
    assert Message.objects.get(pk=told.recalled.pk).text == FORGOTTEN, "it was told from it elsewhere"


def test_or_leaves_what_was_learned(told: Told) -> None:
    target = Target(What.CONVERSATION, str(told.conversation.pk), learned_too=False)

    forget(told.user, target, by=told.user)

    assert not Conversation.objects.filter(pk=told.conversation.pk).exists()
    assert set(Fact.objects.values_list("pk", flat=True)) == {told.fact.pk, told.older.pk, told.bread.pk}


def test_a_conversation_in_which_an_answer_is_being_written_is_not_deleted(told: Told) -> None:
    Message.objects.filter(pk=told.reply.pk).update(status="streaming")

    with pytest.raises(BusyError):
        forget(told.user, Target(What.CONVERSATION, str(told.conversation.pk)), by=told.user)

    assert Conversation.objects.filter(pk=told.conversation.pk).exists()


def test_a_forgotten_document_goes_with_its_versions_and_passages(told: Told) -> None:
    document = Document.objects.get(path="/profile/identity")

    receipt = forget(told.user, Target(What.DOCUMENT, str(document.pk)), by=told.user)

    assert tables_with("fond of the sea") == {}
    assert receipt.gone["version"] == 2
    assert Fact.objects.filter(pk=told.fact.pk).exists()


def test_a_folder_is_forgotten_with_all_below_it(told: Told) -> None:
    forget(told.user, Target(What.DOCUMENT, "/profile"), by=told.user)

    assert not Document.objects.under("/profile").exists()
    assert Document.objects.under("/projects").exists()


def test_a_forgotten_episode_leaves_the_messages_and_is_not_told_anew(told: Told) -> None:
    receipt = forget(told.user, Target(What.EPISODE, str(told.episode.pk)), by=told.user)

    assert not Episode.objects.exists()
    assert Message.objects.get(pk=told.source.pk).text == SAID
    assert not [one for one in receipt.to_rewrite if one["what"] == "episode"]


def test_what_was_ticked_of_a_topic_goes_together(told: Told) -> None:
    refs = (told.fact.ref, f"message:{told.source.pk}", "nonsense:7", "fact:x")

    with pytest.raises(NothingThereError):
        preview(told.user, Target(What.TOPIC, refs=refs))
    receipt = forget(told.user, Target(What.TOPIC, refs=refs[:3]), by=told.user)

    assert (receipt.what, tables_with(*WORDS)) == ("topic", {})


def test_everything_is_forgotten_but_numbers(told: Told, bob: User) -> None:
    bobs = tell(bob)
    UsageDay.objects.create(user=told.user, day="2026-01-01", model="m", turns=3)
    would = preview(told.user, Target(What.EVERYTHING))

    receipt = forget(told.user, Target(What.EVERYTHING), by=told.user, expected=would.fingerprint)

    left = {model.__name__ for model in owned_models() if model._base_manager.filter(user=told.user.pk).exists()}
    assert left == {"Forgetting", "UsageDay", "PersonalIndex"}
    assert receipt.gone == would.counts
    assert Message.objects.filter(user=bob, pk=bobs.source.pk, text=SAID).exists()
    assert Forgetting.objects.get().found_again == 0


@pytest.mark.parametrize("what", [one for one in What if one not in (What.EVERYTHING, What.TOPIC)])
def test_nothing_of_anothers_can_be_named(told: Told, bob: User, what: What) -> None:
    named: dict[str, Any] = {
        "fact": told.fact.pk, "message": told.source.pk, "conversation": told.conversation.pk,
        "document": "/profile", "episode": told.episode.pk,
    }  # fmt: skip
    for name in (str(named[what]), "", "-1", "9" * 30, "/", "x"):
        with pytest.raises(NothingThereError):
            preview(bob, Target(what, name))


def test_the_newer_fact_takes_over_where_the_forgotten_one_had_given_way(told: Told) -> None:
    newest = learn(told.user, "The user's cousin lives in Rome.", kind="person", key="user/cousin/home", value="Rome")
    Fact.objects.filter(pk=told.fact.pk).update(status="superseded", superseded_by=newest)
    Fact.objects.filter(pk=newest.pk).update(status="active")

    receipt = forget(told.user, Target(What.FACT, str(told.fact.pk)), by=told.user)

    told.older.refresh_from_db()
    assert (told.older.status, told.older.superseded_by_id, receipt.restored) == ("superseded", newest.pk, 0)


def test_a_corrected_mistake_does_not_come_back_when_its_correction_is_forgotten(
    alice: User, queued: list[Any]
) -> None:
    read(alice, "We have a cat called Miso.")
    read(alice, "Actually, Miso is a dog, not a cat.")
    cat, dog = Fact.objects.for_user(alice).order_by("pk")
    assert (dog.status, cat.superseded_by) == ("active", dog)

    receipt = forget(alice, Target(What.FACT, str(dog.pk)), by=alice)

    cat.refresh_from_db()
    assert (cat.status, receipt.restored) == ("superseded", 0)


def test_only_what_was_superseded_can_be_restored(told: Told) -> None:
    rejected = learn(told.user, "The user dislikes rain.", kind="preference", status="rejected")
    chosen = [told.older.ref, told.bread.ref, rejected.ref, "fact:x", ""]

    receipt = forget(told.user, Target(What.FACT, str(told.fact.pk)), by=told.user, restore=chosen)

    rejected.refresh_from_db()
    assert (rejected.status, receipt.restored) == ("rejected", 1)


def test_nothing_comes_back_for_a_fact_that_was_rejected(told: Told) -> None:
    Fact.objects.filter(pk=told.fact.pk).update(status="rejected")

    assert preview(told.user, Target(What.FACT, str(told.fact.pk))).coming_back == ()


def test_common_words_in_a_forgotten_fact_leave_other_texts_alone(told: Told) -> None:
    before = set(Message.objects.values_list("text", flat=True))

    forget(told.user, Target(What.FACT, str(told.bread.pk)), by=told.user)

    after = set(Message.objects.values_list("text", flat=True))
    assert "Strong white flour." in after
    assert before - after <= {SAID, "How lovely that your cousin Quillfeather is in Zanzibar now!"} | {
        text for text in before if "bread" in text.lower() or "Lisbon is mild" in text
    }
    assert Fact.objects.filter(pk=told.fact.pk).exists()
    assert not Fact.objects.filter(statement=BREAD).exists()


def test_an_editor_that_was_open_meanwhile_does_not_bring_a_forgotten_line_back(alice: User) -> None:
    fact = learn(alice, "The user lives in Timbuktu.", kind="biography", key="user/home", value="Timbuktu")
    read = "I am fond of the sea.\nThe user lives in Timbuktu."
    save(alice, "/profile/identity", read, started_from=0)

    forget(alice, Target(What.FACT, str(fact.pk)), by=alice)

    with pytest.raises(DocumentChangedError):
        save(alice, "/profile/identity", read, started_from=1)
    assert Document.objects.for_user(alice).get(path="/profile/identity").text == "I am fond of the sea."
    assert tables_with("Timbuktu") == {}


def test_of_a_compound_fact_only_the_part_that_is_meant_goes(alice: User) -> None:
    fact = Fact.objects.create(
        user=alice, statement="The user lives in Porto and works at Initech.", status="active", key="user/employer",
        value="Initech",
    )  # fmt: skip
    target = Target(What.TOPIC, refs=(f"{fact.ref}:1",))

    would = preview(alice, target)
    receipt = forget(alice, target, by=alice, expected=would.fingerprint)

    fact.refresh_from_db()
    assert (fact.statement, fact.key, fact.value) == ("The user lives in Porto.", "", "")
    assert would.counts["shortened"] == 1
    assert receipt.found_again == 0
