"""Listens to the events of `notify.py` by Redis. Only with REDIS_URL is it imported: the client takes 9 MB."""

import redis
import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from recall.db.notify import CHANNEL, MAX_RETRY_SECONDS, Listener, forward


class RedisListener(Listener):
    """One connection that listens to Redis."""

    server = "Redis server"
    errors = (OSError, redis.RedisError)

    def __init__(self, url: str) -> None:
        # No retries by the client: it would resubscribe silently, and no page would learn that it must reload.
        self._redis = redis.asyncio.Redis.from_url(
            url,
            retry=Retry(NoBackoff(), 0),
            socket_connect_timeout=MAX_RETRY_SECONDS,
            socket_timeout=None,  # it blocks until an event arrives; redis-py's default ends it after 5 s
            socket_keepalive=True,
        )
        self._start_over()

    async def _listen(self) -> None:
        async with self._redis.pubsub() as listening:
            await listening.subscribe(CHANNEL)
            async for message in listening.listen():
                if message["type"] == "subscribe":
                    await self._connected()
                else:
                    await forward(message["data"].decode())
        raise redis.ConnectionError("the server closed the connection")
