"""A finished text's HTML, from its Markdown; the latest ones are kept.

Parsed as a whole, or, if it is long, block by block as it would be while it is written.
"""

import hashlib
import threading
from collections import OrderedDict
from typing import Any

from django.utils.safestring import SafeString

from recall.rendering.markdown import MAX_BLOCK_CHARS, clean, parse
from recall.rendering.previews import PreviewBlock
from recall.rendering.streaming import MarkdownStream

PIECE = 2_000
"""Characters of a long text that are looked at together."""
CACHED_ANSWERS = 256
CACHED_CHARS = 20_000
"""Longer results are not cached, which keeps the cache below about 5 MB."""


def render(text: str) -> SafeString:
    """An answer's Markdown as HTML that is safe to put into a page; what is beyond the limits as plain text."""
    encoded = text.encode("utf-8", "replace")  # half an emoji is no text that nh3, or a page, could hold
    digest = hashlib.blake2b(encoded, digest_size=16).digest()
    return _CACHE.get(digest) or _CACHE.keep(digest, _rendered(encoded.decode()))


def _rendered(text: str) -> SafeString:
    if len(text) <= MAX_BLOCK_CHARS:
        env: dict[str, Any] = {}
        return clean(parse(text, env), env)
    return _streamed(text, {})


def _streamed(text: str, env: dict[str, Any]) -> SafeString:
    stream = MarkdownStream(_env=env)
    for start in range(0, len(text), PIECE):
        stream.feed(text[start : start + PIECE])
    stream.finish()
    return stream.html


def preview_blocks(text: str) -> list[PreviewBlock]:
    """The blocks of code that can be previewed, numbered from 1 as in `render`'s HTML."""
    env: dict[str, Any] = {"is_open": True}  # without colors
    text = text.encode("utf-8", "replace").decode()
    if len(text) <= MAX_BLOCK_CHARS:
        clean(parse(text, env), env)
    else:
        _streamed(text, env)
    return list(env.get("previews", ()))


class _Cache:
    """The latest rendered answers by digest, so that reopening a conversation needs no parsing."""

    def __init__(self, size: int) -> None:
        self._size, self._kept, self._lock = size, OrderedDict[bytes, SafeString](), threading.Lock()

    def get(self, digest: bytes) -> SafeString | None:
        with self._lock:
            html = self._kept.get(digest)
            if html is not None:
                self._kept.move_to_end(digest)
            return html

    def keep(self, digest: bytes, html: SafeString) -> SafeString:
        if len(html) > CACHED_CHARS:
            return html
        with self._lock:
            self._kept[digest] = html
            if len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return html


_CACHE = _Cache(CACHED_ANSWERS)
