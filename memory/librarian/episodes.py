"""Episodes: records them, merges overlapping ones, and arranges them into a conversation's narrative arc.

An episode is recorded once per conversation and range of turns. Reading the same turns again finds it and changes
nothing, whatever happened to it since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from uuid import UUID

from django.db.models import Max

from memory import tombstones
from memory.librarian.decision import MIN_IMPORTANCE, Reason
from memory.models import Episode
from memory.models.episodes import KEY_MOMENT
from memory.models.kinds import EpisodeOutcome
from memory.secrets.secrets_filter import sensitive
from recall.llm.tokens import count_tokens

if TYPE_CHECKING:
    from accounts.models import User
    from memory.librarian.engine import ProposedEpisode
    from memory.models import LibrarianRun
    from memory.ports.source import Utterance

MIN_SIGNIFICANCE: Final = MIN_IMPORTANCE
"""Less significant episodes are not recorded; the same limit as for facts."""
SHARED_TURNS: Final = 0.5
"""Two episodes overlap if they share at least this part of the shorter one's turns. Sharing only the turn at which one
ends and the next starts doesn't count, or a long conversation would become one episode."""

NO_TURNS: Final = "an episode of messages that are not there"
NOT_THE_USERS: Final = "an episode without a word of yours"
INSIGNIFICANT: Final = "an episode of too little significance"


# Recording -------------------------------------------------------------------------------------------------------


def refusal(proposal: ProposedEpisode, utterances: Sequence[Utterance]) -> str | None:
    """Why this episode isn't recorded, for the user; None if it is."""
    texts = (proposal.title, proposal.summary, proposal.context, proposal.tone)
    if any(sensitive(text) for text in (*texts, *proposal.participants, *proposal.topics)):
        return Reason.SECRET
    if proposal.significance < MIN_SIGNIFICANCE:
        return INSIGNIFICANT
    said = spanned_messages(proposal, utterances)
    if not said:
        return NO_TURNS
    return None if any(one.speaker == "user" for one in said) else NOT_THE_USERS


def spanned_messages(proposal: ProposedEpisode, utterances: Sequence[Utterance]) -> list[Utterance]:
    return [utterance for utterance in utterances if proposal.first <= utterance.number <= proposal.last]


def record(run: LibrarianRun, proposal: ProposedEpisode, utterances: Sequence[Utterance]) -> Episode:
    """The episode of these turns: a new one, or the one recorded before.

    Within the caller's transaction, which has locked the user's row and checked `refusal`.
    """
    said = spanned_messages(proposal, utterances)
    turns = [one.turn for one in said]
    where = {"conversation_id": run.conversation_id, "first_turn": min(turns), "last_turn": max(turns)}
    known: Episode | None = Episode.objects.filter(user=run.user_id, **where).order_by("pk").first()
    if known is not None:
        return known
    mask = tombstones.load(run.user_id).mask
    made: Episode = Episode.objects.create(
        user_id=run.user_id,
        run=run,
        **where,
        kind=proposal.kind,
        title=mask(proposal.title),
        summary=mask(proposal.summary),
        context=mask(proposal.context),
        participants=list(dict.fromkeys(proposal.participants)),
        outcome=proposal.outcome,
        tone=proposal.tone,
        valence=proposal.valence,
        significance=proposal.significance,
        topics=list(dict.fromkeys(proposal.topics)),
        happened_at=said[-1].said_at,
        tokens=tokens(proposal.title, proposal.summary),
        extracted_by=run.engine,
    )
    return made


def tokens(title: str, summary: str) -> int:
    """Token count of an episode in a prompt."""
    return count_tokens(f"{title}: {summary}")


def is_forgotten(run: LibrarianRun, proposal: ProposedEpisode, utterances: Sequence[Utterance]) -> bool:
    """Whether the user had an episode of some of these turns forgotten."""
    turns = [spanned_message.turn for spanned_message in spanned_messages(proposal, utterances)]
    return tombstones.load(run.user_id).has_turns(run.conversation_id, min(turns), max(turns))


# Overlap ---------------------------------------------------------------------------------------------------------

type Turns = tuple[int, int]
"""First and last turn, both inclusive."""


def overlap(one: Turns, other: Turns) -> float:
    """Share of the shorter range's turns that both contain, 0–1."""
    shared = min(one[1], other[1]) - max(one[0], other[0]) + 1
    return max(0, shared) / min(one[1] - one[0] + 1, other[1] - other[0] + 1)


def overlapping(ranges: Sequence[Turns]) -> list[list[int]]:
    """Groups of overlapping ranges, by position; ranges that overlap no other are left out.

    A group spans from its first turn to its last, and groups merge until no two overlap: calling this again after
    merging them finds nothing.
    """
    groups = [([place], span) for place, span in sorted(enumerate(ranges), key=lambda item: item[1])]
    merged = True
    while merged:
        merged = False
        kept: list[tuple[list[int], Turns]] = []
        for places, span in groups:
            near = next((k for k, (_, other) in enumerate(kept) if overlap(span, other) >= SHARED_TURNS), None)
            if near is None:
                kept.append((places, span))
                continue
            others, other = kept[near]
            kept[near] = (others + places, (min(span[0], other[0]), max(span[1], other[1])))
            merged = True
        groups = kept
    return [sorted(places) for places, _ in groups if len(places) > 1]


def merge_episodes(group: Sequence[Episode]) -> Episode:
    """An unsaved episode that spans all of these, which are in the order of their turns.

    Title, kind and tone come from the most significant one; all summaries are kept.
    """
    first, weightiest = group[0], max(group, key=lambda one: one.significance)
    weight = sum(one.significance for one in group) or 1.0
    summary = _join_texts([one.summary for one in group])
    return Episode(
        user_id=first.user_id,
        conversation_id=first.conversation_id,
        first_turn=min(one.first_turn for one in group),
        last_turn=max(one.last_turn for one in group),
        kind=weightiest.kind,
        title=weightiest.title,
        summary=summary,
        context=_join_texts([one.context for one in group]),
        participants=list(dict.fromkeys(name for one in group for name in one.participants)),
        outcome=next((one.outcome for one in reversed(group) if one.outcome), EpisodeOutcome.NONE),
        tone=weightiest.tone,
        valence=sum(one.valence * one.significance for one in group) / weight,
        significance=weightiest.significance,
        topics=list(dict.fromkeys(topic for one in group for topic in one.topics)),
        happened_at=max(one.happened_at for one in group),
        recorded_at=max(one.recorded_at for one in group),
        tokens=tokens(weightiest.title, summary),
        extracted_by=weightiest.extracted_by,
        times_used=max(one.times_used for one in group),
        last_used_at=max((one.last_used_at for one in group if one.last_used_at), default=None),
    )


def _join_texts(texts: Sequence[str]) -> str:
    """The texts in order, each once, as in merged summaries."""
    kept: list[str] = []
    for text in texts:
        if not any(text in earlier for earlier in kept):
            kept = [*(earlier for earlier in kept if earlier not in text), text]
    return f"Earlier: {' Then: '.join(kept)}" if len(kept) > 1 else "".join(kept)


# Narrative arc ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NarrativeArc:
    """A conversation's episodes by the thirds of its turns, in the order they happened."""

    beginning: tuple[Episode, ...] = ()
    middle: tuple[Episode, ...] = ()
    end: tuple[Episode, ...] = ()
    key_moments: tuple[Episode, ...] = ()
    """The most significant ones, from all parts."""


def narrative_arc(conversation_id: UUID, user: User) -> NarrativeArc:
    """The arc of a conversation, including archived episodes; merged ones are part of the episode they became."""
    episodes = Episode.objects.for_user(user).not_deleted().unmerged().filter(conversation=conversation_id)
    turns = episodes.aggregate(turns=Max("conversation__messages__turn"))["turns"]
    return arc(list(episodes.in_turn_order().defer("vector", "search")), turns or 0)


def arc(episodes: Sequence[Episode], turns: int) -> NarrativeArc:
    """Episodes in the given order by thirds of `turns`; each is in the third that contains its middle."""
    parts: tuple[list[Episode], ...] = ([], [], [])
    for episode in episodes:
        center = (episode.first_turn - 1 + episode.last_turn) / 2
        parts[min(2, int(3 * center / max(turns, episode.last_turn, 1)))].append(episode)
    key_moments = tuple(episode for episode in episodes if episode.significance >= KEY_MOMENT)
    beginning, middle, end = (tuple(part) for part in parts)
    return NarrativeArc(beginning, middle, end, key_moments)
