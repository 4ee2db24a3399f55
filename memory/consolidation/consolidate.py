"""What is tidied up once a day, and what is never touched by it? And what brings a faded memory back?

    expired validity is closed → what faded is archived → overlapping episodes become one → the least significant beyond
    the limit are archived → the figures that large collections are steered by are renewed

One transaction a person, which holds their row, as the librarian does: so that the two never decide on the same facts
at once. Facts that somebody else has locked at that moment are in use, and are left for tomorrow. What was done is
told in numbers and sentences; doing it again at the same moment does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Final

from django.db import transaction
from django.db.models import DurationField, ExpressionWrapper, F, FloatField, Q, QuerySet, Sum, Value
from django.db.models.functions import Cast, Coalesce, Extract, Greatest, Least, Power

from accounts.models import User
from memory.documents.profile_updates import refresh_profile
from memory.facts.validity import OVER
from memory.forget_epoch import lock_user
from memory.librarian import episodes
from memory.models import Chunk, Episode, Fact, PersonalIndex
from memory.retrieval import decay
from memory.retrieval.revive import lock_unused
from recall.celery import enqueue_on_commit
from recall.db.notify import publish_event
from recall.environment import setting

if TYPE_CHECKING:
    from memory.models.facts import FactQuerySet

LIVE_EPISODES: Final = setting("live_episodes", 100)
"""A person has at most so many live ones (seed 004, `maxEpisodicMemories`); the others stay, archived."""

FADED: Final = "faded: long unused, and of little importance"
"""Reason, as the user reads it."""

CLOSED_WHEN_OVER: Final = (Fact.Status.ACTIVE, Fact.Status.ARCHIVED)
"""A proposal is left to the person who was asked, whatever its date."""
SEARCHABLE_FACTS: Final = (Fact.Status.ACTIVE, Fact.Status.ARCHIVED)


@dataclass(frozen=True, slots=True)
class Report:
    """What one person's consolidation did."""

    user_id: int
    weighed: int = 0
    """Facts whose decay was worked out: those that may fade."""
    expired: int = 0
    archived: int = 0
    merged: int = 0
    """Episodes that became part of another one …"""
    merged_into: int = 0
    """… of these."""
    episodes_archived: int = 0
    tokens_reclaimed: int = 0
    """Base count of what leaves default recall; what expired had left it by itself."""
    searchable: int = 0
    """Rows a search of theirs looks at now."""

    @property
    def did_something(self) -> bool:
        """Whether any memory changed."""
        return bool(self.expired or self.archived or self.merged or self.episodes_archived)

    def sentences(self) -> list[str]:
        """For people."""
        told = (
            (self.expired, f"{_counted(self.expired, 'fact')} expired: {OVER}."),
            (self.archived, f"{_counted(self.archived, 'fact')} archived: {FADED}."),
            (self.merged, f"{_counted(self.merged, 'overlapping episode')} merged into {self.merged_into}."),
            (
                self.episodes_archived,
                f"{_counted(self.episodes_archived, 'episode')} archived: the least significant beyond"
                f" {LIVE_EPISODES}.",
            ),
            (self.tokens_reclaimed, f"{_counted(self.tokens_reclaimed, 'token')} reclaimed from default recall."),
        )
        return [sentence for number, sentence in told if number] or ["Nothing to tidy up."]


def consolidate(user: User, now: datetime, *, rehearse: bool = False) -> Report:
    """Tidy up one person's memory; `rehearse` says what would be done, and does nothing.

    Raises:
        User.DoesNotExist: the account is gone.
    """
    with transaction.atomic():
        lock_user(user.pk)
        expired = _close_validity(user, now)
        weighed = may_fade(Fact.objects.for_user(user), now).count()
        archived, fact_tokens = _archive_faded(user, now)
        refresh_profile(user)
        merged, merged_into, merged_tokens = _merge_overlapping(user)
        beyond, beyond_tokens = _archive_beyond_limit(user)
        report = Report(
            user_id=user.pk,
            weighed=weighed,
            expired=expired,
            archived=archived,
            merged=merged,
            merged_into=merged_into,
            episodes_archived=beyond,
            tokens_reclaimed=fact_tokens + merged_tokens + beyond_tokens,
            searchable=_refresh_statistics(user),
        )
        if report.did_something:
            publish_event(f"user-{user.pk}", "memory")
        transaction.set_rollback(rehearse)
    return report


def people() -> QuerySet[User]:
    """Everyone who has something to tidy up."""
    remembered = Fact.objects.filter(status__in=CLOSED_WHEN_OVER).order_by().values("user")
    told = Episode.objects.live().order_by().values("user")
    return User.objects.filter(Q(pk__in=remembered) | Q(pk__in=told)).order_by("pk")


# Facts -----------------------------------------------------------------------------------------------------------


def _close_validity(user: User, now: datetime) -> int:
    over = lock_unused(Fact.objects.for_user(user).filter(status__in=CLOSED_WHEN_OVER, valid_until__lte=now))
    return Fact.objects.filter(pk__in=over).update(status=Fact.Status.EXPIRED, reason=OVER)


def _archive_faded(user: User, now: datetime) -> tuple[int, int]:
    """How many faded, and how many tokens they have."""
    faded = Fact.objects.filter(pk__in=lock_unused(fading(Fact.objects.for_user(user), now)))
    size: int = faded.aggregate(size=Coalesce(Sum("tokens"), 0))["size"]
    return faded.update(status=Fact.Status.ARCHIVED, reason=FADED), size


def may_fade(facts: FactQuerySet, now: datetime) -> FactQuerySet:
    """Active facts that are old enough, but for those that never fade: with a key, or vouched for by a person."""
    old = facts.filter(status=Fact.Status.ACTIVE, key="", recorded_at__lte=now - decay.ARCHIVED_FROM_AGE)
    found: FactQuerySet = old.unconfirmed()
    return found


def fading(facts: FactQuerySet, now: datetime) -> FactQuerySet:
    """Those of them that `decay.is_faded`."""
    worth = ExpressionWrapper(F("importance") * _decay(now), output_field=FloatField())
    found: FactQuerySet = may_fade(facts, now).alias(worth=worth).filter(worth__lt=decay.ARCHIVED_BELOW)
    return found


def _decay(now: datetime) -> Least:
    """`decay.decay` in the database."""
    since = Coalesce("last_used_at", "recorded_at")
    unused = ExpressionWrapper(Value(now) - since, output_field=DurationField())
    half_lives = Greatest(Cast(Extract(unused, "epoch"), FloatField()), 0.0) / decay.HALF_LIFE.total_seconds()
    # 0.5 to a great power is refused as an underflow; from 1,000 half-lives on it is nothing.
    faded = Power(Value(0.5), Least(half_lives, 1000.0), output_field=FloatField())
    boost = Least(F("times_used") * decay.USE_ADDS, decay.USES_ADD_AT_MOST, output_field=FloatField())
    return Least(faded + boost, 1.0, output_field=FloatField())


# Episodes --------------------------------------------------------------------------------------------------------


def _merge_overlapping(user: User) -> tuple[int, int, int]:
    """How many became part of another, of how many, and how many tokens that saves."""
    live = Episode.objects.for_user(user).live().filter(conversation__isnull=False)
    told = live.order_by("conversation_id", "first_turn", "last_turn", "pk").defer("vector", "search")
    merged, made, saved = 0, 0, 0
    for _, of_one in groupby(told, key=lambda episode: episode.conversation_id):
        of_conversation = list(of_one)
        ranges = [(episode.first_turn, episode.last_turn) for episode in of_conversation]
        for places in episodes.overlapping(ranges):
            group = [of_conversation[place] for place in places]
            whole = _merge(group)
            merged, made = merged + len(group), made + 1
            saved += sum(episode.tokens for episode in group) - whole.tokens
    if made:
        enqueue_on_commit("memory.tasks.embed")
    return merged, made, saved


def _merge(group: Sequence[Episode]) -> Episode:
    """One episode in place of several that tell of the same turns; their rows stay, and say what they became."""
    rows = Episode.objects.filter(pk__in=[episode.pk for episode in group])
    rows.update(status=Episode.Status.MERGED)  # first: of a range of turns only one may be live
    whole = episodes.told_as_one(group)
    whole.save()
    whole.facts.set(Fact.objects.filter(episodes__in=rows))
    rows.update(merged_into=whole)
    return whole


def _archive_beyond_limit(user: User) -> tuple[int, int]:
    """How many went, and how many tokens they have."""
    by_weight = Episode.objects.for_user(user).live().order_by("-significance", "-happened_at", "-pk")
    beyond = list(by_weight.values_list("pk", "tokens")[LIVE_EPISODES:])
    Episode.objects.filter(pk__in=[pk for pk, _ in beyond]).update(status=Episode.Status.ARCHIVED)
    return len(beyond), sum(size for _, size in beyond)


# Figures ---------------------------------------------------------------------------------------------------------


def _refresh_statistics(user: User) -> int:
    """How many rows a search of theirs looks at; large collections are searched in another way (`PersonalIndex`)."""
    rows = (
        Fact.objects.for_user(user).filter(status__in=SEARCHABLE_FACTS).count()
        + Episode.objects.for_user(user).unmerged().count()
        + Chunk.objects.for_user(user).count()
    )
    index, is_new = PersonalIndex.objects.get_or_create(user=user, defaults={"rows": rows})
    if not is_new and index.rows != rows:
        PersonalIndex.objects.filter(pk=index.pk).update(rows=rows)
    return rows


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
