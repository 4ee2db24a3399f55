"""Answers whose process died: what is stored of them and what they cost."""

from uuid import uuid4

import pytest

from accounts.models import User
from budget.models import Receipt
from chat.models import Message
from chat.prompt.assemble import AssembledPrompt, assemble_prompt
from chat.turn import AcceptedTurn
from chat.turns.backend import Progress, StoredTurn
from chat.turns.finish import save_draft_receipt, save_partial
from chat.turns.intake import accept_message
from chat.turns.recovery import mark_abandoned_answers, take_up
from recall.db.notify import PROCESS_KEY

pytestmark = pytest.mark.django_db


@pytest.fixture
def turn(alice: User) -> AcceptedTurn:
    return accept_message(alice, uuid4(), None, "Where do swifts sleep?")


@pytest.fixture
def prompt(turn: AcceptedTurn) -> AssembledPrompt:
    return assemble_prompt(turn)


def answer_of(turn: AcceptedTurn) -> Message:
    return Message.objects.get(pk=turn.answer.pk)


def dies(turn: AcceptedTurn) -> None:
    """Its process is gone, and the clock finds that."""
    Message.objects.filter(pk=turn.answer.pk).update(process_key=PROCESS_KEY + 1)
    assert mark_abandoned_answers() == 1


def test_no_text_is_saved_before_the_receipt_that_counts_it(turn: AcceptedTurn, prompt: AssembledPrompt) -> None:
    save_partial(turn.answer.pk, "In the air", "Birds sleep where they are")
    assert (answer_of(turn).text, answer_of(turn).event_data) == ("", {})

    save_draft_receipt(turn, prompt)
    save_partial(turn.answer.pk, "In the air", "Birds sleep where they are")
    assert answer_of(turn).text == "In the air"


def test_an_answer_that_is_given_up_is_saved_with_its_receipt(turn: AcceptedTurn, prompt: AssembledPrompt) -> None:
    StoredTurn(turn).abandon("In the air", Progress(prompt=prompt))
    assert mark_abandoned_answers() == 1
    receipt = Receipt.objects.get(message=turn.answer)
    assert (answer_of(turn).status, answer_of(turn).text) == ("interrupted", "In the air")
    assert (receipt.state, receipt.output_tokens > 0) == ("stopped", True)


def test_an_answer_that_is_written_again_and_lost_again_costs_what_it_then_had(
    turn: AcceptedTurn, prompt: AssembledPrompt
) -> None:
    save_draft_receipt(turn, prompt)
    dies(turn)
    assert Receipt.objects.get(message=turn.answer).output_tokens == 0

    Message.objects.filter(pk=turn.answer.pk).update(process_key=PROCESS_KEY)  # it was not dead, and is asked again
    assert take_up(turn.answer.pk)
    save_partial(turn.answer.pk, "In the air, on the wing")
    dies(turn)
    assert Receipt.objects.get(message=turn.answer).output_tokens > 0
