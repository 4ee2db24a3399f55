"""Publishes the events of `notify.py` by Redis. Only with REDIS_URL is it imported: the client takes 9 MB."""

import logging
import time
from collections.abc import Callable
from typing import Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

logger = logging.getLogger(__name__)

REDIS_SECONDS: Final = 1.0
"""How long a publisher waits for Redis; a request waits with it."""
REDIS_PAUSE: Final = 5.0
"""Seconds without another attempt after a failed one."""


class RedisPublisher:
    """Publishes through Redis, and by `fallback` while Redis is away."""

    def __init__(self, url: str, channel: str, fallback: Callable[[str], None]) -> None:
        limits = {"socket_timeout": REDIS_SECONDS, "socket_connect_timeout": REDIS_SECONDS}
        self._redis = redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), **limits)
        self._channel, self._fallback = channel, fallback
        self._next_attempt = 0.0

    def publish(self, payload: str) -> None:
        """Publish once, to every listener."""
        if time.monotonic() >= self._next_attempt:
            try:
                self._redis.publish(self._channel, payload)
                return
            except redis.RedisError as error:
                self._next_attempt = time.monotonic() + REDIS_PAUSE
                logger.warning("Redis is away (%s); events go through the database.", type(error).__name__)
        self._fallback(payload)

    def is_reachable(self) -> bool:
        """Whether Redis answers now."""
        try:
            return bool(self._redis.ping())
        except redis.RedisError:
            return False
