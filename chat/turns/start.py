"""Starting a turn: accept the message, start its task, tell everyone who watches the conversation."""

from dataclasses import replace
from typing import Final

from accounts.models import User
from chat.messages.rendering import messages_html
from chat.prompt.forgotten_topics import requests_read
from chat.protocol import Continue, Edit, Retry, Send, Without
from chat.turn import AcceptedTurn, TurnRejectedError
from chat.turns import intake
from chat.turns.backend import StoredTurn
from chat.turns.live import TURN_REGISTRY, Follower, RunningTurn
from chat.turns.live_text import Frame
from chat.turns.recovery import take_up
from chat.turns.remote import publish_start
from chat.turns.run import run_turn
from recall.db.connections import run_at_once
from recall.db.prepared import PreparedQuery, read_together
from recall.observability import request_id

Accepted = Send | Edit | Retry | Continue | Without
_ACTIVE: Final = PreparedQuery(lambda user: User.objects.filter(pk=user, is_active=True), user=int)
STATUS: Final[dict[str, int]] = {
    "not_found": 404,
    "busy": 409,
    "slow_down": 429,
    "limit": 429,
    "too_long": 413,
    "not_given": 409,
    "not_yours": 409,
    "signed_out": 401,
}
"""HTTP status of a rejection; 400 for the rest."""


async def accept(user_id: int, frame: Accepted, follower: Follower | None = None) -> Frame:
    """Accept a message and start its turn; returns the `accepted` frame, which every follower gets too.

    Raises:
        TurnRejectedError: nothing was saved.
        OperationalError: the database could not be reached; nothing was saved, or the same client id finds it.
    """
    with TURN_REGISTRY.opening(user_id) as has_place:
        if not has_place:
            raise TurnRejectedError(*intake.SLOW_DOWN)
        return await _accept(user_id, frame, follower)


async def _accept(user_id: int, frame: Accepted, follower: Follower | None) -> Frame:
    accepted = await run_at_once(_take_in, user_id, frame)
    if follower is not None:
        TURN_REGISTRY.subscribe(accepted.conversation.pk, follower)
    if await _is_running_or_done(accepted):
        return await run_at_once(_accepted_frame, replace(accepted, is_duplicate=True), frame)
    accepted = replace(accepted, is_duplicate=False)
    turn = RunningTurn(user_id, accepted.conversation.pk, accepted.answer.pk)
    # Started at once: what is committed is answered, even if the page is gone by now.
    TURN_REGISTRY.start(turn, run_turn(turn, StoredTurn(accepted)))
    announced = None
    try:
        announced = await run_at_once(_accepted_frame, accepted, frame)
        return announced
    finally:
        turn.announce(None if accepted.is_trial else announced)  # a page shows one branch


async def _is_running_or_done(accepted: AcceptedTurn) -> bool:
    """Whether the answer is being written, or was.

    It is not if the message is new, or if the database failed after the commit and before it could confirm it: then the
    message was sent again.
    """
    answer_id = accepted.answer.pk
    if accepted.is_duplicate and (TURN_REGISTRY.writes(answer_id) or not await run_at_once(take_up, answer_id)):
        return True
    return TURN_REGISTRY.writes(answer_id)  # the same message through another socket was a moment faster


def _take_in(user_id: int, frame: Accepted) -> AcceptedTurn:
    with read_together(_ACTIVE.read(user=user_id), requests_read(user_id)):
        user = _ACTIVE.first(user=user_id)  # read again: a socket outlives a sign-out
        if user is None:
            raise TurnRejectedError(*intake.SIGNED_OUT)
        accepted = _accept_frame(user, frame)
    if not accepted.is_trial:
        # Not in the transaction: those that notify are committed one after the other, each with its wait for the disk.
        publish_start(user_id, accepted.conversation.pk)
    return accepted


def _accept_frame(user: User, frame: Accepted) -> AcceptedTurn:
    match frame:
        case Send():
            arguments = (frame.conversation, frame.text, frame.attachments, frame.chosen)
            return intake.accept_message(user, frame.client_id, *arguments)
        case Edit():
            return intake.accept_edit(user, frame.client_id, frame.message, frame.text)
        case Retry():
            return intake.accept_retry(user, frame.client_id, frame.message)
        case Continue():
            return intake.accept_continue(user, frame.client_id, frame.message)
        case Without():
            return intake.accept_exclusion(user, frame.client_id, frame.message, frame.refs)


def _accepted_frame(accepted: AcceptedTurn, frame: Accepted) -> Frame:
    is_answer_only = isinstance(frame, Retry) or accepted.is_trial
    is_plain = isinstance(frame, Continue) or (isinstance(frame, Send) and not frame.attachments)
    is_alone = is_plain and not accepted.is_duplicate
    shown = [accepted.answer] if is_answer_only else [accepted.question, accepted.answer]
    return {
        "type": "accepted",
        "request": request_id.current(),
        "client_id": str(frame.client_id),
        "conversation": str(accepted.conversation.pk),
        "created": accepted.created,
        "duplicate": accepted.is_duplicate,
        "question": accepted.question.pk,
        "message": accepted.answer.pk,
        "replaces": frame.message if isinstance(frame, Retry | Edit) else None,
        "html": messages_html(shown, user=accepted.conversation.user, are_alone=is_alone),
    }
