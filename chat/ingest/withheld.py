"""Withholds what the user asked to forget from reading: nothing is learned from it, and no digest repeats it."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from chat.models import Message
from chat.turn import WITHHOLDS
from memory.ports.source import Utterance
from memory.text.parts import Part, numbered_parts, sentence_spans
from memory.text.user_text import mask_spans


def without_withheld(user_id: int, utterances: Sequence[Utterance]) -> list[Utterance]:
    """The utterances without messages that ask to forget something, and without the messages or parts that
    those name."""
    named = withheld_refs(user_id)
    kept = [utterance for utterance in utterances if f"message:{utterance.message_id}" not in named]
    return [replace(item, text=mask_parts(item.message_id, item.text, named)) for item in kept]


def withheld_refs(user_id: int) -> set[str]:
    """Refs of the messages that ask to forget, and of what they name."""
    asking = Message.objects.filter(user=user_id, event_data__has_key=WITHHOLDS).values_list("pk", "event_data")
    return {f"message:{pk}" for pk, _ in asking} | {ref for _, data in asking for ref in data[WITHHOLDS]}


def mask_parts(message_id: int, text: str, refs: Collection[str]) -> str:
    """The text with the named parts blanked out."""
    return mask_spans(text, [(part.start, part.end) for part in _named_parts(message_id, text, refs)])


def mask_sentences(message_id: int, text: str, refs: Collection[str]) -> str:
    """The text without the whole sentences of the named parts: quoted alone, half a sentence says nothing."""
    named = {part.sentence for part in _named_parts(message_id, text, refs)}
    return mask_spans(text, [span for number, span in enumerate(sentence_spans(text)) if number in named])


def _named_parts(message_id: int, text: str, refs: Collection[str]) -> list[Part]:
    start = f"message:{message_id}:"
    numbers = {int(number) for ref in refs if ref.startswith(start) for number in ref.removeprefix(start).split(",")}
    return numbered_parts(text, numbers)
