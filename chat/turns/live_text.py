"""An answer's text and thinking as pages show them while they grow: the frames that extend them, and their state for
one that joins.
"""

from dataclasses import dataclass, field
from typing import Any

from recall.rendering.streaming import Appendix, MarkdownStream

Frame = dict[str, Any]


@dataclass(slots=True)
class _Rendered:
    """Markdown that grows, and its part that isn't finished."""

    stream: MarkdownStream = field(default_factory=MarkdownStream)
    open: list[Appendix] = field(default_factory=list)

    def grow(self, more: str) -> Frame:
        """What it adds: takes milliseconds, or a quarter of a second for code made to be slow."""
        before = self.open
        closed, self.open = self.stream.feed(more), self.stream.open_part()
        return {"closed": closed, **_difference(before, self.open)}


@dataclass(slots=True)
class LiveText:
    """The part of one answer that was shown; what isn't shown yet is elsewhere."""

    message_id: int
    text: str = ""
    thinking: str = ""
    _text: _Rendered = field(default_factory=_Rendered)
    _thinking: _Rendered = field(default_factory=_Rendered)

    def grow(self, more: str) -> Frame:
        """Show more: the `delta` frame."""
        frame: Frame = {"type": "delta", "message": self.message_id, "offset": len(self.text), "text": more}
        self.text += more
        return {**frame, **self._text.grow(more)}

    def think(self, more: str, offset: int | None = None) -> Frame:
        """Show more thinking: the `thinking` frame. `offset`: drop what is shown after it, and render all of it again;
        None: nothing."""
        offset = len(self.thinking) if offset is None else offset
        frame: Frame = {"type": "thinking", "message": self.message_id, "offset": offset, "text": more}
        if offset < len(self.thinking):
            self._thinking, more = _Rendered(), self.thinking[:offset] + more
            self.thinking = ""
        self.thinking += more
        return {**frame, **self._thinking.grow(more)}

    def snapshot(self) -> Frame:
        """What is shown, for a page that joins."""
        shown = {"text": self.text, "html": self._text.stream.html, "open": self._text.open, "thinking": self.thinking}
        thinking = {"thinking_html": self._thinking.stream.html, "thinking_open": self._thinking.open}
        return {"message": self.message_id, "status": None, **shown, **thinking}


def _difference(before: list[Appendix], after: list[Appendix]) -> Frame:
    """The open part without the beginning that its last piece shares with the one before, in UTF-16 units."""
    if not before or not after or before[-1].depth != after[-1].depth:
        return {"open": after, "kept": 0}
    kept = _common_prefix(before[-1].html, after[-1].html)
    rest = after[-1]._replace(html=after[-1].html[len(kept) :])
    return {"open": [*after[:-1], rest], "kept": len(kept.encode("utf-16-le")) // 2}


def _common_prefix(one: str, other: str) -> str:
    pairs = enumerate(zip(one, other, strict=False))
    return one[: next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))]
