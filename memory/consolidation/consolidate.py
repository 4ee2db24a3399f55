"""Consolidation of one user's memory: expire, archive, merge; never delete.

Closes expired validity, archives faded facts, merges overlapping episodes, archives the least significant episodes over
the limit, and refreshes the statistics that steer large collections. It runs in one transaction that locks the user's
row, as the librarian does, so the two never decide on the same facts at once. Facts that another transaction has locked
are in use, and are left for the next night. Running it twice at the same moment changes nothing more.
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
from recall.celery import enqueue_on_commit
from recall.db.notify import publish_event
from recall.environment import setting

if TYPE_CHECKING:
    from memory.models.facts import FactQuerySet

LIVE_EPISODES: Final = setting("live_episodes", 100)
"""Live episodes per user; the others stay, archived."""

FADED: Final = "faded: long unused, and of little importance"
"""The reason, as the user reads it."""

CLOSED_WHEN_OVER: Final = (Fact.Status.ACTIVE, Fact.Status.ARCHIVED)
"""Proposals are left to the user, whatever their dates."""
SEARCHABLE_FACTS: Final = (Fact.Status.ACTIVE, Fact.Status.ARCHIVED)


@dataclass(frozen=True, slots=True)
class Report:
    """What one user's consolidation did."""

    weighed: int = 0
    """Facts that may fade, whose decay was computed."""
    expired: int = 0
    archived: int = 0
    merged: int = 0
    """Episodes that became part of another."""
    merged_into: int = 0
    """The episodes they became part of."""
    episodes_archived: int = 0
    tokens_reclaimed: int = 0
    """Tokens no longer recalled by default, without expired facts, which weren't recalled anyway."""
    searchable: int = 0
    """Rows that the user's searches cover now."""

    @property
    def did_something(self) -> bool:
        """Whether any memory changed."""
        return bool(self.expired or self.archived or self.merged or self.episodes_archived)

    def sentences(self) -> list[str]:
        """What was done, as sentences for the page."""
        parts = (
            (self.expired, f"{_count(self.expired, 'fact')} expired: {OVER}."),
            (self.archived, f"{_count(self.archived, 'fact')} archived: {FADED}."),
            (self.merged, f"{_count(self.merged, 'overlapping episode')} merged into {self.merged_into}."),
            (
                self.episodes_archived,
                f"{_count(self.episodes_archived, 'episode')} archived: the least significant beyond {LIVE_EPISODES}.",
            ),
            (self.tokens_reclaimed, f"{_count(self.tokens_reclaimed, 'token')} reclaimed from default recall."),
        )
        return [sentence for number, sentence in parts if number] or ["Nothing to clean up."]


def consolidate(user: User, now: datetime, *, rehearse: bool = False) -> Report:
    """Consolidate one user's memory. `rehearse`: only report what would be done.

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


def users_to_consolidate() -> QuerySet[User]:
    """Users with anything to consolidate."""
    with_facts = Fact.objects.filter(status__in=CLOSED_WHEN_OVER).order_by().values("user")
    with_episodes = Episode.objects.live().order_by().values("user")
    return User.objects.filter(Q(pk__in=with_facts) | Q(pk__in=with_episodes)).order_by("pk")


# Facts -----------------------------------------------------------------------------------------------------------


def _lock_unused(facts: QuerySet[Fact]) -> list[int]:
    """The ids of the facts, locked in the order of their ids, without those that another transaction has locked."""
    locked = facts.order_by("pk").select_for_update(skip_locked=True, no_key=True, of=("self",))
    return list(locked.values_list("pk", flat=True))


def _close_validity(user: User, now: datetime) -> int:
    over = _lock_unused(Fact.objects.for_user(user).filter(status__in=CLOSED_WHEN_OVER, valid_until__lte=now))
    return Fact.objects.filter(pk__in=over).update(status=Fact.Status.EXPIRED, reason=OVER)


def _archive_faded(user: User, now: datetime) -> tuple[int, int]:
    """How many facts faded, and their tokens."""
    faded = Fact.objects.filter(pk__in=_lock_unused(fading(Fact.objects.for_user(user), now)))
    size: int = faded.aggregate(size=Coalesce(Sum("tokens"), 0))["size"]
    return faded.update(status=Fact.Status.ARCHIVED, reason=FADED), size


def may_fade(facts: FactQuerySet, now: datetime) -> FactQuerySet:
    """Active facts that are old enough to fade. Facts with a key, or confirmed by the user, never fade."""
    old = facts.filter(status=Fact.Status.ACTIVE, key="", recorded_at__lte=now - decay.ARCHIVED_FROM_AGE)
    unconfirmed: FactQuerySet = old.unconfirmed()
    return unconfirmed


def fading(facts: FactQuerySet, now: datetime) -> FactQuerySet:
    """Those facts whose importance × decay is below `decay.ARCHIVED_BELOW`."""
    # Divided, not multiplied: the product of a tiny importance and a tiny decay raises an underflow error.
    needed = ExpressionWrapper(Value(decay.ARCHIVED_BELOW) / _decay(now), output_field=FloatField())
    faded: FactQuerySet = may_fade(facts, now).alias(needed=needed).filter(importance__lt=F("needed"))
    return faded


def _decay(now: datetime) -> Least:
    """`decay.decay`, computed in the database."""
    since = Coalesce("last_used_at", "recorded_at")
    unused = ExpressionWrapper(Value(now) - since, output_field=DurationField())
    half_lives = Greatest(Cast(Extract(unused, "epoch"), FloatField()), 0.0) / decay.HALF_LIFE.total_seconds()
    # A higher power of 0.5 raises an underflow error; after 1,000 half-lives the value is 0 anyway.
    faded = Power(Value(0.5), Least(half_lives, 1000.0), output_field=FloatField())
    boost = Least(F("times_used") * decay.USE_ADDS, decay.USES_ADD_AT_MOST, output_field=FloatField())
    return Least(faded + boost, 1.0, output_field=FloatField())


# Episodes --------------------------------------------------------------------------------------------------------


def _merge_overlapping(user: User) -> tuple[int, int, int]:
    """How many episodes were merged, into how many, and the tokens that saves."""
    live = Episode.objects.for_user(user).live().filter(conversation__isnull=False)
    ordered = live.order_by("conversation_id", "first_turn", "last_turn", "pk").defer("vector", "search")
    merged, made, saved = 0, 0, 0
    for _, rows in groupby(ordered, key=lambda episode: episode.conversation_id):
        of_conversation = list(rows)
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
    """Merge episodes about the same turns into one; their rows stay, with a link to it."""
    rows = Episode.objects.filter(pk__in=[episode.pk for episode in group])
    rows.update(status=Episode.Status.MERGED)  # first: only one live episode may span a range of turns
    whole = episodes.merge_episodes(group)
    whole.save()
    whole.facts.set(Fact.objects.filter(episodes__in=rows))
    rows.update(merged_into=whole)
    return whole


def _archive_beyond_limit(user: User) -> tuple[int, int]:
    """How many episodes were archived, and their tokens."""
    by_weight = Episode.objects.for_user(user).live().order_by("-significance", "-happened_at", "-pk")
    beyond = list(by_weight.values_list("pk", "tokens")[LIVE_EPISODES:])
    Episode.objects.filter(pk__in=[pk for pk, _ in beyond]).update(status=Episode.Status.ARCHIVED)
    return len(beyond), sum(size for _, size in beyond)


# Statistics ------------------------------------------------------------------------------------------------------


def _refresh_statistics(user: User) -> int:
    """How many rows the user's searches cover; large collections have an index of their own (`PersonalIndex`)."""
    rows = (
        Fact.objects.for_user(user).filter(status__in=SEARCHABLE_FACTS).count()
        + Episode.objects.for_user(user).unmerged().count()
        + Chunk.objects.for_user(user).count()
    )
    index, is_new = PersonalIndex.objects.get_or_create(user=user, defaults={"rows": rows})
    if not is_new and index.rows != rows:
        PersonalIndex.objects.filter(pk=index.pk).update(rows=rows)
    return rows


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
