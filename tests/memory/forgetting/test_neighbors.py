"""What was not to be forgotten stays as it is, and the preview lists all that changes."""

import pytest

from accounts.models import User
from chat.models import Conversation, Message
from memory.forgetting.execute import forget, preview
from memory.forgetting.select import select_topic
from memory.forgetting.targets import Target, What
from recall.redaction import FORGOTTEN
from tests.memory.forgetting.conversation import Told, exchange, learn

pytestmark = pytest.mark.django_db

ALLERGY = "I'm allergic to peanuts"


def texts_of(user: User) -> dict[int, str]:
    return dict(Message.objects.for_user(user).values_list("pk", "text"))


def test_answers_in_the_same_words_of_the_program_stay_and_the_preview_lists_what_changes(alice: User) -> None:
    food, home = (Conversation.objects.create(user=alice, title=title) for title in ("Food", "Home"))
    said, reply = exchange(food, ALLERGY, "Noted: you are allergic to peanuts.\n\nAsk me for snacks at any time.")
    exchange(food, "My friend Mary is visiting", "Noted: Mary is visiting.")
    exchange(home, "I live in Porto", "Noted: you live in Porto.")
    exchange(home, "What do people react to?", "Some are allergic to pollen.")
    learn(alice, "The user is allergic to peanuts.", key="user/allergy", value="peanuts", message=said, quote=ALLERGY,
          status="active")  # fmt: skip
    ticked = tuple(match.ref for match in select_topic(alice, ALLERGY) if match.is_ticked)
    before, would = texts_of(alice), preview(alice, Target(What.TOPIC, refs=ticked))

    forget(alice, Target(What.TOPIC, refs=ticked), by=alice, expected=would.fingerprint)

    changed = {pk: text for pk, text in texts_of(alice).items() if before[pk] != text}
    assert changed == {said.pk: FORGOTTEN, reply.pk: f"{FORGOTTEN}.\n\nAsk me for snacks at any time."}
    assert {f"message:{pk}" for pk in changed} == {one.ref for one in would.going if one.ref.startswith("message:")}


def test_of_an_answer_that_nothing_connects_with_it_only_its_name_goes(told: Told) -> None:
    chat = Conversation.objects.create(user=told.user, title="Islands")
    _, answer = exchange(chat, "Which islands are far away?", "Zanzibar is far away. A honeymoon there is costly.")
    would = preview(told.user, Target(What.FACT, str(told.fact.pk)))

    forget(told.user, Target(What.FACT, str(told.fact.pk)), by=told.user, expected=would.fingerprint)

    answer.refresh_from_db()
    assert answer.text == f"{FORGOTTEN} is far away. A honeymoon there is costly."
