"""The API rate limit: a token bucket per key, and one per user's sessions.

A bucket holds API_RATE_PER_MINUTE tokens and refills evenly; a request takes one. It is a row of an unlogged table: one
statement decides for all web processes, and a database crash refills every bucket.
"""

from dataclasses import dataclass
from math import ceil
from typing import Final

from django.conf import settings
from django.db import connection

SECONDS: Final = 60
"""Time in which an empty bucket refills."""
POLICY: Final = "default"


@dataclass(frozen=True, slots=True)
class RateLimitState:
    """A bucket after a request."""

    most: int
    """Tokens of a full bucket, which is also the refill per minute."""
    left: int
    wait: int
    """Seconds until the next token; 0: this request got one."""

    @property
    def headers(self) -> dict[str, str]:
        """Headers of draft-ietf-httpapi-ratelimit-headers: the policy, what is left, and when it is full again."""
        full_in = ceil((self.most - self.left) * SECONDS / self.most)
        headers = {
            "RateLimit-Policy": f'"{POLICY}";q={self.most};w={SECONDS}',
            "RateLimit": f'"{POLICY}";r={self.left};t={self.wait or full_in}',
        }
        return headers | ({"Retry-After": str(self.wait)} if self.wait else {})


def take_token(holder: str, user_id: int) -> RateLimitState:
    """Take one token from the bucket of `holder`, such as `key:12`, if there is one. One or two statements."""
    most: int = settings.ENVIRONMENT.api_rate_per_minute
    parameters: dict[str, str | int | float] = {"holder": holder, "user": user_id, "most": most, "rate": most / SECONDS}
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, parameters)
        row = cursor.fetchone()
        if row is not None:
            return RateLimitState(most, max(0, int(row[0])), 0)
        cursor.execute(_MISSING, parameters)
        (missing,) = cursor.fetchone() or (0.0,)
    return RateLimitState(most, 0, max(1, ceil(missing * SECONDS / most)))


_FILLED: Final = "least(%(most)s, bucket.tokens + %(rate)s * extract(epoch FROM clock_timestamp() - bucket.at))"
_TAKE: Final = f"""
    INSERT INTO accounts_apirate AS bucket (holder, user_id, tokens, at)
    VALUES (%(holder)s, %(user)s, %(most)s - 1, clock_timestamp())
    ON CONFLICT (holder) DO UPDATE SET tokens = {_FILLED} - 1, at = clock_timestamp()
    WHERE {_FILLED} >= 1
    RETURNING tokens
"""  # noqa: S608 (no user input in it)
_MISSING: Final = f"SELECT 1 - {_FILLED} FROM accounts_apirate AS bucket WHERE holder = %(holder)s"  # noqa: S608
