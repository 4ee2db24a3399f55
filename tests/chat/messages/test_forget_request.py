"""“Please forget that”: it is no longer used in conversations, nothing is learned from it, and a link deletes it."""

import re
import unicodedata
from collections.abc import Callable
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from chat.ingest.withheld import withheld_refs
from chat.models import Conversation, Message
from chat.prompt.assemble import AssembledPrompt, assemble_prompt
from chat.prompt.forgotten_topics import load_forgotten, requests_read
from chat.prompt.measure import FORGET_NOTE
from chat.prompt.replay import replay
from chat.turn import WITHHOLDS, AcceptedTurn
from chat.turns.finish import save_draft_receipt
from chat.turns.intake import accept_message
from chat.turns.temporary import TemporaryChat, TemporaryTurn
from memory.forgetting.execute import forget
from memory.forgetting.targets import Target, What
from memory.models import Document, Fact
from memory.ports.source import get_source
from recall.db.prepared import read_together
from tests.memory.retrieval.test_recall import remember, talk

SignIn = Callable[[User], Client]


# In the conversation -----------------------------------------------------------------------------------------------

TOM = "The user's brother Tom plays the tuba."
SAID = "My brother Tom plays the tuba every Sunday."
pytestmark = pytest.mark.django_db


def say(user: User, *texts: str) -> AcceptedTurn:
    """The last of these messages, accepted; the others have an answer."""
    turn = accept_message(user, uuid4(), None, texts[0])
    for text in texts[1:]:
        Message.objects.filter(pk=turn.answer.pk).update(text="I see.", status=Message.Status.COMPLETE)
        turn = accept_message(user, uuid4(), turn.conversation.pk, text)
    return turn


def sent(prompt: AssembledPrompt) -> str:
    """Everything but the question itself."""
    *earlier, last = prompt.request["messages"]
    return str([*prompt.request["system"], *earlier, *last["content"][:-1]])


def test_that_is_left_out_of_this_prompt_and_the_next_and_the_model_is_told(alice: User) -> None:
    asking = assemble_prompt(say(alice, SAID, "Please forget that"))
    assert "tuba" not in sent(asking)
    assert FORGET_NOTE in asking.contents.clock

    later = assemble_prompt(say(alice, SAID, "Please forget that", "What does Tom play?"))
    assert "tuba" not in sent(later)
    assert FORGET_NOTE not in later.contents.clock


def test_the_answer_to_it_is_left_out_too(alice: User) -> None:
    first = say(alice, SAID)
    Message.objects.filter(pk=first.answer.pk).update(text="The tuba is a fine instrument.", status="complete")
    turn = accept_message(alice, uuid4(), first.conversation.pk, "Please forget that")

    assert "tuba" not in sent(assemble_prompt(turn))


def test_it_counts_for_its_own_answer_though_requests_are_read_before_it_is_saved(alice: User) -> None:
    earlier = say(alice, SAID, "Please forget that")
    Message.objects.filter(pk=earlier.answer.pk).update(text="I will.", status="complete")
    with read_together(requests_read(alice.pk)):
        turn = accept_message(alice, uuid4(), earlier.conversation.pk, "Forget everything about pears")

    assert turn.exclusion.requests == (turn.question.pk, earlier.question.pk)


def test_a_topic_is_left_out_of_recall_profile_and_history_but_its_neighbors_stay(alice: User) -> None:
    remember(alice, TOM, "The user's sister Mary plays the harp.")
    remember(alice, "The user's brother is called Tom.", key="user/brother/name", kind="person", importance=0.9)
    before = assemble_prompt(say(alice, "What do my brother Tom and my sister Mary play?"))
    assert "tuba" in sent(before)

    turn = say(alice, f"{SAID} I like pears.", "Forget everything about Tom.", "What do Tom and my sister Mary play?")
    after = sent(assemble_prompt(turn))

    assert "tuba" not in after
    assert "called Tom" not in after
    assert "harp" in after
    assert "I like pears." in after


def test_no_other_conversation_uses_it_and_another_users_is_not_affected(alice: User, bob: User) -> None:
    for user in (alice, bob):
        remember(user, TOM)
    say(alice, SAID, "Forget everything about Tom.")

    used = ["tuba" in sent(assemble_prompt(say(user, "What does my brother Tom play?"))) for user in (alice, bob)]

    assert used == [False, True]


def test_a_temporary_chat_does_not_use_it_either(alice: User) -> None:
    remember(alice, TOM)
    say(alice, "Forget everything about Tom.")

    talk = Conversation(user=alice)
    question = Message(pk=-1, user=alice, role="user", turn=1, text="What does my brother Tom play?")
    turn = AcceptedTurn(talk, question, Message(pk=-2, user=alice), created=False, is_duplicate=False)
    chat = TemporaryChat(alice, follower=lambda _: None)
    assert "tuba" not in sent(TemporaryTurn(chat, turn, reads_memory=True, client_id=uuid4()).build_prompt())


def test_of_a_message_that_says_more_the_rest_stays(alice: User) -> None:
    turn = say(alice, "My brother Tom plays the tuba. I live in Porto.", "Forget everything about Tom", "Ok")

    read, _ = get_source().load_range(turn.conversation.pk, 1, 99)
    assert [one.text.strip(" .") for one in read if one.speaker == "user"] == ["I live in Porto", "Ok"]


def test_the_rest_of_a_message_is_still_recalled(alice: User) -> None:
    talk(alice, "My brother Tom plays the tuba every Sunday. I keep eleven geese in Porto.")
    say(alice, "Forget everything about Tom")

    prompt = sent(assemble_prompt(say(alice, "How many geese do I keep in Porto?")))

    assert "geese in Porto" in prompt
    assert "tuba" not in prompt


def test_the_rest_of_the_sentence_goes_too(alice: User) -> None:
    talk(alice, "I have begun to see a therapist, Doctor Vasquelle, in Porto. I keep eleven geese in Porto.")
    say(alice, "please forget everything about the therapist")

    prompt = sent(assemble_prompt(say(alice, "How many geese do I keep in Porto?")))

    assert "geese in Porto" in prompt
    assert "Vasquelle" not in prompt


def test_a_message_of_which_too_few_words_are_named_is_not_recalled_at_all(alice: User) -> None:
    talk(alice, "Tom snores. I keep eleven geese in Porto.")
    say(alice, "Forget everything about Tom")

    assert "geese in Porto" not in sent(assemble_prompt(say(alice, "How many geese do I keep in Porto?")))


def test_a_topic_in_other_words_is_found_by_its_meaning(alice: User) -> None:
    talk(alice, "I earn 3150 a month after tax. I keep eleven geese in Porto.")
    say(alice, "Please forget my salary")

    prompt = sent(assemble_prompt(say(alice, "How much do I earn, and how many geese do I keep?")))

    assert "3150" not in prompt
    assert "geese in Porto" in prompt


def test_what_was_learned_from_the_part_goes_with_it(alice: User) -> None:
    said = "I am behind by 900 with my landlord"
    (pk,) = talk(alice, f"{said}. I keep eleven geese in Porto.")
    remember(alice, "The user owes Mr Orme 900.", quote=said, message=Message.objects.get(pk=pk))
    say(alice, "Please forget how far behind I am with the landlord")

    prompt = sent(assemble_prompt(say(alice, "What do I owe Mr Orme, and how many geese do I keep?")))

    assert "900" not in prompt
    assert "geese in Porto" in prompt


@pytest.mark.parametrize("quote", ["I pay the landlord 900", "900"])
def test_of_the_message_of_a_fact_that_is_named_alone_the_rest_stays_if_its_words_tell_it(
    alice: User, quote: str
) -> None:
    (pk,) = talk(alice, "I pay the landlord 900. I keep eleven geese in Porto.")
    fact, _ = remember(alice, "The user's rent is 900.", TOM, quote=quote, message=Message.objects.get(pk=pk))
    turn = say(alice, "Forget it")
    question = {**turn.question.event_data, WITHHOLDS: [fact.ref]}
    Message.objects.filter(pk=turn.question.pk).update(event_data=question)

    prompt = sent(assemble_prompt(say(alice, "What is my rent, and how many geese do I keep?")))

    assert "900" not in prompt
    assert ("geese in Porto" in prompt) == (quote != "900")


def test_the_user_can_have_it_used_again(alice: User, bob: User, sign_in: SignIn) -> None:
    remember(alice, TOM)
    turn = say(alice, "Forget everything about Tom.")
    url = reverse("keep_using", args=[turn.question.pk])

    assert sign_in(bob).post(url).status_code == 404
    assert sign_in(alice).post(url).status_code == 302

    assert "tuba" in sent(assemble_prompt(say(alice, "What does my brother Tom play?")))
    page = sign_in(alice).get(reverse("conversation", args=[turn.conversation.pk])).content.decode()
    assert url not in page


def test_the_librarian_learns_nothing_from_it(alice: User) -> None:
    turn = say(
        alice, "I live in Porto.", SAID, "Forget what I said about Tom", "I keep bees.", "please forget that", "Ok"
    )

    read, _ = get_source().load_range(turn.conversation.pk, 1, 99)

    assert [one.text for one in read if one.speaker == "user"] == ["I live in Porto.", "Ok"]


def test_the_receipts_of_such_a_turn_can_be_replayed(alice: User) -> None:
    turn = say(alice, SAID, "Please forget that", "What does Tom play?")
    save_draft_receipt(turn, assemble_prompt(turn))

    assert replay(Message.objects.get(pk=turn.answer.pk).receipt).identical


# On the page -------------------------------------------------------------------------------------------------------


def test_a_link_under_the_message_opens_the_preview(alice: User, bob: User, sign_in: SignIn) -> None:
    (fact,) = remember(alice, TOM)
    turn = say(alice, SAID, "Forget everything about Tom")
    page = sign_in(alice).get(reverse("conversation", args=[turn.conversation.pk])).content.decode()
    url = f"{reverse('memory:forget_topic')}?message={turn.question.pk}"
    assert url in page

    assert fact.statement.replace("The user's", "Your") in sign_in(alice).get(url).content.decode()
    assert "Tom" not in sign_in(bob).get(url).content.decode()


def test_that_links_to_the_preview_of_the_message_before(alice: User, sign_in: SignIn) -> None:
    turn = say(alice, SAID, "please forget that")
    before = Message.objects.get(text=SAID)
    page = sign_in(alice).get(reverse("conversation", args=[turn.conversation.pk])).content.decode()

    assert f"{reverse('memory:forget')}?what=message&amp;id={before.pk}" in page
    preview = sign_in(alice).get(f"{reverse('memory:forget')}?what=message&id={before.pk}")
    assert "tuba" in preview.content.decode()
    assert not Fact.objects.exists()


@pytest.mark.parametrize(
    ("tubas", "named"),
    [("My brother Tom plays the tuba.", "message:{}:0"), ("My brother Tom and Webb play the tuba.", "message:{}")],
)
def test_it_stays_left_out_when_its_neighbors_are_deleted(alice: User, tubas: str, named: str) -> None:
    webb = ("My therapist is called Webb.", "The appointment with Webb costs ninety dollars.")
    say(alice, f"{webb[0]} {webb[1]} {tubas} I like tea.", "Please forget what I said about Tom")
    first = Message.objects.get(text__startswith=webb[0])
    for sentence in webb:
        fact = remember(alice, sentence, quote=sentence, message=first)[0]
        forget(alice, Target(What.FACT, str(fact.pk)), by=alice)
    first.refresh_from_db()

    assert named.format(first.pk) in withheld_refs(alice.pk), first.text
    excluded = load_forgotten(alice)
    left = excluded.words.sub("", first.text) if excluded.words else first.text
    assert f"message:{first.pk}" in excluded.carriers or not re.search("Tom|tuba", left)


def test_what_is_spelled_with_accents_of_their_own_is_deleted_as_well(alice: User) -> None:
    said = "We met Zoë Fördemann at the harbour."
    apart = unicodedata.normalize("NFD", f"{said} The ferry was late.")
    document = Document.objects.create(user=alice, path="/notes/a", title="a", text=apart, source="user", tokens=5)
    met = say(alice, said).question
    fact = remember(alice, "The user met Zoë Fördemann.", value="Zoë Fördemann", quote=said, message=met)[0]
    forget(alice, Target(What.FACT, str(fact.pk)), by=alice)
    document.refresh_from_db()
    met.refresh_from_db()

    assert "mann" not in document.text + met.text
    assert "The ferry was late." in document.text
