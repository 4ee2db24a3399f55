"""Celery tasks of the chat: thin, each says which function to run."""

from __future__ import annotations

from celery import shared_task

from chat import catching_up, reading, recovery


@shared_task(name="chat.tasks.mark_abandoned_answers")
def mark_abandoned_answers() -> None:
    """Mark answers whose web process died."""
    recovery.mark_abandoned_answers()


@shared_task(name="chat.tasks.note_idle_conversations")
def note_idle_conversations() -> None:
    """Pause conversations that went quiet and have them read."""
    reading.pause_idle()


@shared_task(name="chat.tasks.index_what_was_missed")
def index_what_was_missed() -> None:
    """Have conversations indexed that are not."""
    catching_up.index_what_was_missed()
