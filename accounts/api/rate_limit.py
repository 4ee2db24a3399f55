"""How often may a program call the API? A bucket of tokens for each key, and one for each person's sessions.

A bucket holds API_RATE_PER_MINUTE tokens and fills up again evenly; a request takes one. It is a row of an unlogged
table: one statement decides, whichever of several web processes asks, and a crash of the server fills every bucket.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final

from django.conf import settings
from django.db import connection

SECONDS: Final = 60
"""A full bucket's worth of waiting."""
POLICY: Final = "default"


@dataclass(frozen=True, slots=True)
class RateLimitState:
    """What is left after a request."""

    most: int
    """Tokens of a full bucket, and tokens that come back within a minute."""
    left: int
    wait: int
    """Seconds until a token is there again; 0: this request had one."""

    @property
    def headers(self) -> dict[str, str]:
        """As draft-ietf-httpapi-ratelimit-headers has them: what holds, what is left, when it is full again."""
        full_in = ceil((self.most - self.left) * SECONDS / self.most)
        told = {
            "RateLimit-Policy": f'"{POLICY}";q={self.most};w={SECONDS}',
            "RateLimit": f'"{POLICY}";r={self.left};t={self.wait or full_in}',
        }
        return told | ({"Retry-After": str(self.wait)} if self.wait else {})


def take_token(holder: str, user_id: int) -> RateLimitState:
    """One token out of the bucket of `holder`, such as `key:12`, if there is one. One statement, or two."""
    most: int = settings.ENVIRONMENT.api_rate_per_minute
    given: dict[str, str | int | float] = {"holder": holder, "user": user_id, "most": most, "rate": most / SECONDS}
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, given)
        row = cursor.fetchone()
        if row is not None:
            return RateLimitState(most, max(0, int(row[0])), 0)
        cursor.execute(_MISSING, given)
        (missing,) = cursor.fetchone() or (0.0,)
    return RateLimitState(most, 0, max(1, ceil(missing * SECONDS / most)))


_FILLED: Final = "least(%(most)s, bucket.tokens + %(rate)s * extract(epoch FROM clock_timestamp() - bucket.at))"
_TAKE: Final = f"""
    INSERT INTO accounts_apirate AS bucket (holder, user_id, tokens, at)
    VALUES (%(holder)s, %(user)s, %(most)s - 1, clock_timestamp())
    ON CONFLICT (holder) DO UPDATE SET tokens = {_FILLED} - 1, at = clock_timestamp()
    WHERE {_FILLED} >= 1
    RETURNING tokens
"""  # noqa: S608 (nothing of a caller's stands in it)
_MISSING: Final = f"SELECT 1 - {_FILLED} FROM accounts_apirate AS bucket WHERE holder = %(holder)s"  # noqa: S608
