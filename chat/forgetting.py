"""Chat's part of forgetting: finds and erases a memory in messages, summaries and titles.

user messages       the quote becomes `[forgotten]`, and so do sentences that repeat it in other words
answers             those that used it are erased with their tool calls; why: `memory/forgetting/find.py`
thinking            goes with its answer; an answer that only thought of it keeps its text
segment summaries   are replaced by a placeholder and regenerated; the turns stay compacted
titles              become `[forgotten]` if they contain it or were made from an erased message
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from django.db.models import Q
from django.urls import reverse

from budget.models import ProfileSnapshot, Receipt
from budget.receipts import forgetting as receipts
from budget.receipts import profile_snapshots
from budget.receipts.retention import without_text
from chat.compaction.rewrite import DROPPED, regenerate_summary
from chat.messages.activity import Step, about, readable
from chat.messages.branches import KEPT
from chat.messages.thinking import THINKING, thinking_of, without_thinking
from chat.models import Attachment, Conversation, Message, Segment
from chat.tools.memory_search import refs_in_result
from chat.turn import BESIDE, WITHHOLDS, AgentRun
from memory.documents.artifacts import FOLDER
from memory.documents.profile import profile_lines
from memory.documents.tree import fitting_name, join_path
from memory.forgetting.find import numbers_of
from memory.index.indexer import reindex
from memory.models import Chunk, Document, Episode, Fact, MessageChange
from memory.ports.forgettable import BusyError
from memory.refs import ids_by_kind
from memory.text.parts import Part, blank_parts, numbered_parts, parts_of
from recall.llm.tokens import count_tokens
from recall.redaction import FORGOTTEN, Erasure, ErasureItem, words_of

if TYPE_CHECKING:
    from uuid import UUID

    from accounts.models import User
    from chat.prompt.assemble import AssembledPrompt
    from chat.prompt.inputs import PromptInputs

STOP_FIRST: Final = "An answer is still being generated in one of these conversations. Stop it, then try again."
STREAMING: Final = Message.Status.STREAMING
"""An answer in progress is handled when it is saved (`chat/turns/finish.py`)."""
KEPT_EVENT_KEYS: Final = ("stop_reason", "continues", BESIDE, KEPT)
"""Keys of `Message.event_data` without text."""


class ConversationEraser:
    """Erases memories from messages, summaries and titles."""

    def check_erasable(self, user: User, conversations: Collection[UUID]) -> None:
        """Check that no answer is being generated in these conversations.

        Raises:
            BusyError: one is.
        """
        if Message.objects.for_user(user).streaming().filter(conversation__in=conversations).exists():
            raise BusyError(STOP_FIRST)

    def collect(self, user: User, erasure: Erasure) -> None:
        """Add answers that used it, summaries based on it, and stored tool results."""
        _collect_refs(user, erasure)
        _collect_unquotable(user, erasure)
        _collect_answers(user, erasure)
        _collect_tool_events(user, erasure)
        _collect_segments(user, erasure)
        _collect_artifacts(user, erasure)

    def preview(self, user: User, erasure: Erasure) -> Iterator[ErasureItem]:
        """Items of the dry run."""
        for conversation in Conversation.objects.for_user(user).filter(pk__in=erasure.conversations):
            yield ErasureItem("conversation", f"conversation:{conversation.pk}", conversation.title)
        yield from self._messages(user, erasure)
        for answer in _messages_by_id(user, erasure.thoughts - erasure.messages).order_by("conversation", "seq"):
            thinking, url = thinking_of(answer.event_data), reverse("message", args=[answer.pk])
            yield ErasureItem("thinking", f"message:{answer.pk}", thinking, url)
        for pk, name in _attachments(user, erasure).values_list("pk", "name"):
            yield ErasureItem("attachment", f"attachment:{pk}", name)
        for segment in Segment.objects.for_user(user).filter(pk__in=erasure.segments):
            yield ErasureItem("summary", segment.ref, f"Turns {segment.first_turn} to {segment.last_turn}")
        for conversation in _find_titles(user, erasure):
            yield ErasureItem("title", f"title:{conversation.pk}", conversation.title)

    def _messages(self, user: User, erasure: Erasure) -> Iterator[ErasureItem]:
        for message in _touched_messages(user, erasure).order_by("conversation", "seq"):
            is_part = message.pk not in erasure.messages
            what = "quote" if is_part else _type_of(message, erasure)
            shown = " … ".join(sorted(erasure.quotes[message.pk])) if is_part else _readable_text(message)
            yield ErasureItem(what, f"message:{message.pk}", shown, reverse("message", args=[message.pk]))
        deleted = Message.objects.for_user(user).filter(conversation__in=erasure.conversations)
        for pk, event in deleted.values_list("pk", "event_type"):
            yield ErasureItem(_TYPES.get(event, "message"), f"message:{pk}")

    def erase(self, user: User, erasure: Erasure) -> None:
        """Erase everything collected."""
        titled = [conversation.pk for conversation in _find_titles(user, erasure)]
        touched = set(_touched_messages(user, erasure).values_list("conversation_id", flat=True))
        _attachments(user, erasure).delete()
        _erase_in_files(user, erasure)
        changed: dict[int, tuple[str, str]] = {}
        for message in _touched_messages(user, erasure):
            before = message.text
            _erase_message(message, erasure)
            changed[message.pk] = before, message.text
        _renumber_withheld(user, changed)
        for answer in _messages_by_id(user, erasure.thoughts - erasure.messages):
            Message.objects.filter(pk=answer.pk).update(event_data=without_thinking(answer.event_data))
        for segment in Segment.objects.for_user(user).filter(pk__in=erasure.segments):
            drop_summary(segment)
        Conversation.objects.filter(pk__in=titled).update(title="")
        Conversation.objects.for_user(user).filter(pk__in=erasure.conversations).delete()
        shortened = {*erasure.messages, *erasure.quotes}
        # What such a message changed may be what is gone from it.
        MessageChange.objects.for_user(user).filter(Q(message__in=shortened) | Q(changed_by__in=shortened)).delete()
        for conversation_id in sorted(touched - erasure.conversations):
            reindex(conversation_id, shortened)

    def refresh_derived(self, user: User, erasure: Erasure) -> None:
        """Pin a new profile where the pinned one contained it."""
        lines = [profile_snapshots.Line(line.ref, line.text, count_tokens(line.text)) for line in profile_lines(user)]
        for conversation_id in receipts.pinned_to(user, erasure) - erasure.conversations:
            profile_snapshots.pin(user, conversation_id, lines, profile_snapshots.Reason.FORGOTTEN)

    def regenerate(self, user: User, wanted: Mapping[str, Any]) -> bool:
        """Regenerate a dropped summary."""
        return wanted["what"] != "segment" or regenerate_summary(user, wanted["id"])


def _type_of(message: Message, erasure: Erasure) -> str:
    """Its type in the dry run. An answer that was given it needn't have used it: “Goodbye!”."""
    what = _TYPES.get(message.event_type, "message")
    return "given" if what == "answer" and not _repeats(message, erasure) else what


def _readable_text(message: Message) -> str:
    """A message as the user reads it: for tools, the query and the result."""
    match message.event_type:
        case Message.Event.TOOL_CALL:
            return Step(message.author, about(message.author, message.event_data.get("input"))).line
        case Message.Event.TOOL_RESULT:
            return readable(message.text)
        case _:
            return message.text


_TYPES: Final = {
    Message.Event.USER_MESSAGE.value: "message",
    Message.Event.ASSISTANT_RESPONSE.value: "answer",
    Message.Event.TOOL_CALL.value: "tool text",
    Message.Event.TOOL_RESULT.value: "tool text",
    Message.Event.CONVERSATION_SUMMARY.value: "summary",
}


# Collecting ------------------------------------------------------------------------------------------------------


def _messages_by_id(user: User, ids: Iterable[int]) -> Any:
    return Message.objects.for_user(user).filter(pk__in=list(ids)).defer("search")


def _touched_messages(user: User, erasure: Erasure) -> Any:
    """Messages that are erased as a whole or in part."""
    return _messages_by_id(user, {*erasure.messages, *erasure.quotes})


def _attachments(user: User, erasure: Erasure) -> Any:
    """Attachments of messages erased as a whole, and of deleted conversations."""
    gone = Q(message__in=erasure.messages) | Q(message__conversation__in=erasure.conversations)
    return Attachment.objects.for_user(user).filter(gone)


def _collect_refs(user: User, erasure: Erasure) -> None:
    """Collect the references by which receipts name it. An erased answer is an echo: derived text is found by its
    words."""
    rows = _touched_messages(user, erasure).values_list("pk", "role")
    for pk, role in rows:
        (erasure.echoes if role == Message.Role.ASSISTANT else erasure.refs).add(f"message:{pk}")
    in_deleted = Message.objects.for_user(user).filter(conversation__in=erasure.conversations)
    erasure.refs |= {f"message:{pk}" for pk in in_deleted.values_list("pk", flat=True)}
    summaries = Segment.objects.for_user(user).filter(conversation__in=erasure.conversations)
    erasure.refs |= {f"segment:{pk}" for pk in summaries.values_list("pk", flat=True)}
    erasure.refs |= {f"attachment:{pk}" for pk in _attachments(user, erasure).values_list("pk", flat=True)}
    erasure.refs |= erasure.echoes
    whole = _messages_by_id(user, erasure.messages).filter(role=Message.Role.USER)
    erasure.add_text(*whole.values_list("text", flat=True))


def _collect_unquotable(user: User, erasure: Erasure) -> None:
    """Erase a message as a whole if the quote can't be found in it."""
    for message in _messages_by_id(user, set(erasure.quotes) - erasure.messages):
        is_cut = f"message:{message.pk}" in erasure.parts
        if not is_cut and not erasure.occurs_in(message.text) and FORGOTTEN not in message.text:
            erasure.messages.add(message.pk)


def _collect_answers(user: User, erasure: Erasure) -> None:
    """Add answers for which it was recalled, and those that repeat it."""
    by_refs = receipts.answers_using(user, erasure.refs - erasure.echoes)
    suspects = {pk for pk, as_memory in by_refs.items() if not as_memory}
    suspects |= set(receipts.answers_using(user, erasure.echoes))
    suspects |= set(_later_answers(user, erasure))
    recalled = {pk for pk, as_memory in by_refs.items() if as_memory} | _answers_from_tools(user, erasure)
    is_empty = Q(text=FORGOTTEN) | (Q(text="") & ~Q(event_data__has_key=THINKING))
    staying = ~Q(conversation__in=erasure.conversations) & ~is_empty & ~Q(status=STREAMING)
    for answer in _messages_by_id(user, (suspects | recalled) - erasure.messages).filter(staying):
        if answer.pk in recalled or _repeats(answer, erasure):
            erasure.messages.add(answer.pk)
        elif erasure.is_paraphrased_in(thinking_of(answer.event_data)):
            erasure.thoughts.add(answer.pk)
    replies = Message.objects.for_user(user).filter(parent__in=erasure.messages, parent__role=Message.Role.USER)
    for reply in replies.filter(staying, role=Message.Role.ASSISTANT).exclude(pk__in=erasure.messages).defer("search"):
        if f"message:{reply.pk}" not in erasure.parts or _repeats(reply, erasure):
            erasure.messages.add(reply.pk)


def _repeats(answer: Message, erasure: Erasure) -> bool:
    """Whether an answer that may have known it says it, outside the parts that are cut out of it anyway."""
    going = numbers_of(answer.text, erasure.parts.get(f"message:{answer.pk}", ()))
    left = blank_parts(answer.text, going, FORGOTTEN)
    lines = "\n".join(answer.event_data.get("tool_lines", ()))
    return erasure.is_paraphrased_in(left) or erasure.is_paraphrased_in(lines)


def _answers_from_tools(user: User, erasure: Erasure) -> set[int]:
    """Answers whose tools returned it: receipts don't list these as memories."""
    results = Message.objects.for_user(user).filter(event_type=Message.Event.TOOL_RESULT, parent__isnull=False)
    results = results.exclude(conversation__in=erasure.conversations).exclude(text__in=["", FORGOTTEN])
    refs = erasure.refs - erasure.echoes
    texts = results.values_list("parent", "text").iterator()
    return {parent for parent, text in texts if parent and (erasure.occurs_in(text) or refs & refs_in_result(text))}


def _later_answers(user: User, erasure: Erasure) -> Iterator[int]:
    """Later answers in the same conversations, which had it in their history."""
    sources = _touched_messages(user, erasure).values_list("conversation_id", "seq")
    first: dict[UUID, int] = {}
    for conversation_id, seq in sources:
        first[conversation_id] = min(seq, first.get(conversation_id, seq))
    for conversation_id, seq in first.items():
        later = Message.objects.filter(conversation=conversation_id, seq__gt=seq, role=Message.Role.ASSISTANT)
        yield from later.values_list("pk", flat=True)


def _collect_tool_events(user: User, erasure: Erasure) -> None:
    """Add tool events of erased answers, and other tool texts that contain it."""
    tools = Message.objects.for_user(user).filter(role=Message.Role.TOOL)
    tools = tools.exclude(conversation__in=erasure.conversations).exclude(text__in=["", FORGOTTEN], event_data={})
    erasure.messages |= set(tools.filter(parent__in=erasure.messages).values_list("pk", flat=True))
    others = tools.exclude(pk__in=erasure.messages).values_list("pk", "text", "event_data", "parent")
    texts = {pk: f"{text} {data.get('input', '')}" for pk, text, data, _ in others.iterator()}
    erasure.messages |= {pk for pk, text in texts.items() if erasure.occurs_in(text)}


def _collect_segments(user: User, erasure: Erasure) -> None:
    """Add summaries that span an erased turn, and those that contain it."""
    touched = _touched_messages(user, erasure).values_list("conversation_id", "turn").distinct()
    spanning = Q(pk__in=[])
    for conversation_id, turn in touched:
        spanning |= Q(conversation=conversation_id, first_turn__lte=turn, last_turn__gte=turn)
    staying = Segment.objects.for_user(user).exclude(conversation__in=erasure.conversations)
    found = set(staying.filter(spanning).values_list("pk", flat=True))
    texts = staying.exclude(pk__in=found).values_list("pk", "text", "summary", "topics")
    found |= {pk for pk, *parts in texts if erasure.occurs_in(str(parts))}
    erasure.segments |= found
    erasure.refs |= {f"segment:{pk}" for pk in found}


def _collect_artifacts(user: User, erasure: Erasure) -> None:
    """Add tool results stored as documents."""
    kept = _messages_by_id(user, erasure.messages).filter(event_data__has_key="artifact")
    paths = [data["artifact"] for data in kept.values_list("event_data", flat=True)]
    documents = Document.objects.for_user(user)
    erasure.documents |= set(documents.filter(path__in=paths).values_list("pk", flat=True))
    for conversation_id in erasure.conversations:
        below = documents.under(join_path(FOLDER, fitting_name(str(conversation_id))))
        erasure.documents |= set(below.values_list("pk", flat=True))
    others = documents.under(FOLDER).exclude(pk__in=erasure.documents).values_list("pk", "text")
    erasure.documents |= {pk for pk, text in others.iterator() if erasure.occurs_in(text)}


def _find_titles(user: User, erasure: Erasure) -> list[Conversation]:
    """Conversations whose title contains it or was made from an erased first message."""
    firsts = {message.conversation_id for message in _touched_messages(user, erasure) if message.parent_id is None}
    titles = Conversation.objects.for_user(user).exclude(pk__in=erasure.conversations)
    return [
        one
        for one in titles
        if one.title and (one.pk in firsts or erasure.occurs_in(one.title) or erasure.telling & words_of(one.title))
    ]


# An answer in progress -------------------------------------------------------------------------------------------


def is_prompt_intact(prompt: AssembledPrompt) -> bool:
    """Whether everything in the prompt still exists unchanged. Checked when something was forgotten meanwhile."""
    inputs = prompt.inputs
    messages = {one.pk: one.text for turn in inputs.history.turns for one in (turn.question, turn.answer)}
    messages[inputs.question.message.pk] = inputs.question.message.text
    summaries = {segment.pk: segment.text for segment in inputs.history.segments}
    pinned = ProfileSnapshot.objects.filter(pk=inputs.profile.snapshot.pk).values_list("text", flat=True).first()
    attached = {attachment.id: attachment.text for turn in inputs.history.turns for attachment in turn.attachments}
    attached |= {attachment.id: attachment.text for attachment in inputs.question.attachments}
    return (
        messages == dict(Message.objects.filter(pk__in=messages).values_list("pk", "text"))
        and attached == dict(Attachment.objects.filter(pk__in=attached).values_list("pk", "text"))
        and summaries == dict(Segment.objects.filter(pk__in=summaries).values_list("pk", "text"))
        and pinned == inputs.profile.snapshot.text
        and _memories_exist(inputs)
    )


def _memories_exist(inputs: PromptInputs) -> bool:
    """The recalled memories, and the pinned profile with its facts and lines."""
    recalled = inputs.recalled.kept
    named = ids_by_kind([*(item.ref for item in recalled), *inputs.profile.current])
    facts, episodes = set(named["fact"]), set(named["episode"])
    passages = {item.text for item in recalled if item.source not in ("fact", "episode")}
    user = inputs.user
    lines = {line.text for line in profile_lines(user)}
    return (
        Fact.objects.for_user(user).filter(pk__in=facts).count() == len(facts)
        and Episode.objects.for_user(user).filter(pk__in=episodes).count() == len(episodes)
        and passages <= set(Chunk.objects.for_user(user).filter(text__in=passages).values_list("text", flat=True))
        and all(one.is_fact or one.text in lines for one in inputs.profile.current.values())
    )


def erase_answer(answer: Message, answered: AgentRun) -> None:
    """Erase an answer whose prompt contained it; only how it ended is kept."""
    answer.text, answered.tools = FORGOTTEN, []
    answer.event_data = {name: one for name, one in answer.event_data.items() if name in KEPT_EVENT_KEYS}
    answer.tokens = count_tokens(answer.text)
    below = join_path(FOLDER, fitting_name(str(answer.conversation_id)))
    kept = Document.objects.under(below).filter(user=answer.user_id, created_at__gte=answer.created_at)
    kept.delete()


def erase_receipt(receipt: Receipt) -> None:
    """Erase the texts of a receipt; figures and references stay."""
    receipt.ingredients = {}
    receipt.items = [without_text(item, FORGOTTEN) for item in receipt.items]


# Erasing ---------------------------------------------------------------------------------------------------------


def _erase_message(message: Message, erasure: Erasure) -> None:
    if message.pk in erasure.messages:
        message.text = FORGOTTEN
        message.event_data = {name: one for name, one in message.event_data.items() if name in KEPT_EVENT_KEYS}
    else:
        parts = numbers_of(message.text, erasure.parts.get(f"message:{message.pk}", ()))
        message.text = erasure.without_sentences(blank_parts(message.text, parts, FORGOTTEN))
        is_in_thinking = erasure.is_paraphrased_in(thinking_of(message.event_data))
        left = without_thinking(message.event_data) if is_in_thinking else message.event_data
        message.event_data = erasure.redact_json(left)
    message.tokens = count_tokens(message.text)
    changed: dict[str, Any] = {"text": message.text, "event_data": message.event_data, "tokens": message.tokens}
    Message.objects.filter(pk=message.pk).update(**changed)


def _renumber_withheld(user: User, changed: Mapping[int, tuple[str, str]]) -> None:
    """Let requests to forget parts of messages name them by their numbers in the texts that are left.

    `changed`: by message, its text before and now.
    """
    for asking in Message.objects.for_user(user).filter(event_data__has_key=WITHHOLDS).only("event_data"):
        refs = [_renumbered(ref, changed) for ref in asking.event_data[WITHHOLDS]]
        if refs != asking.event_data[WITHHOLDS]:
            event_data = {**asking.event_data, WITHHOLDS: [*dict.fromkeys(refs)]}
            Message.objects.filter(pk=asking.pk).update(event_data=event_data)


def _renumbered(ref: str, changed: Mapping[int, tuple[str, str]]) -> str:
    """A reference `message:5:1,2` by the numbers of now; the whole message, if a part of it isn't there unchanged."""
    kind, pk, *numbers = ref.split(":")
    if kind != "message" or not numbers or int(pk) not in changed:
        return ref
    before, now = changed[int(pk)]
    named = [_own_words(before, part) for part in numbered_parts(before, [int(one) for one in numbers[0].split(",")])]
    left = {part.number: _own_words(now, part) for part in parts_of(now)}
    if not {*named} <= {*left.values()}:
        return f"message:{pk}"
    return f"message:{pk}:{','.join(str(number) for number, words in left.items() if words in named)}"


def _own_words(text: str, part: Part) -> str:
    """A part without the marks of what was erased before it."""
    return text[part.start : part.end].replace(FORGOTTEN, "").strip()


def _erase_in_files(user: User, erasure: Erasure) -> None:
    """Erase attachments of other messages that contain it verbatim; runs before the check for words that remain
    elsewhere."""
    for pattern in erasure.hints():
        for file in Attachment.objects.for_user(user).filter(text__iregex=pattern).defer("content"):
            text = erasure.redact(file.text)
            if text != file.text:
                changed: dict[str, Any] = {"text": text, "tokens": count_tokens(text), **file.made_of(text)}
                Attachment.objects.filter(pk=file.pk).update(**changed)


def drop_summary(segment: Segment) -> None:
    """Replace a summary by the placeholder; its turns stay compacted."""
    text = DROPPED.format(first=segment.first_turn, last=segment.last_turn)
    Chunk.objects.filter(segment=segment).delete()
    Segment.objects.filter(pk=segment.pk).update(text=text, summary={}, topics=[], tokens=count_tokens(text))
