"""Which part of a message are the user's own words? Only those are evidence.

Code, quotations and pasted documents stand in a message without being claimed by its writer. They are blanked out,
space for character, so that every position stays what it was in the message.
"""

from __future__ import annotations

import re

_BORROWED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("code block", re.compile(r"^[ \t]{0,8}(```|~~~)[\s\S]*?(?:^[ \t]{0,8}\1|\Z)", re.MULTILINE)),
    ("inline code", re.compile(r"`[^`\n]{1,300}`")),
    ("quoted lines", re.compile(r"^[ \t]{0,8}>.*$", re.MULTILINE)),
    # A quotation opens after a gap and closes before one: so 5'10" and don't open none.
    ("quotation", re.compile(r"(?<![^\s(\[])\"(?=\S)[^\"]{1,2000}\"(?!\w)")),
    ("quotation", re.compile(r"“[^“”]{1,2000}”|„[^„“”]{1,2000}[“”]|«[^«»]{1,2000}»")),
    ("quotation", re.compile(r"(?<![^\s(\[])['‘](?=\w)(?:[^'’\n]|['’](?=\w)){1,300}['’](?!\w)")),
    (
        "tagged text",
        re.compile(
            r"<(document|context|file|article|email|transcript|paste)\b[^<>]{0,200}>[\s\S]*?(?:</\1>|\Z)", re.I
        ),
    ),
)  # fmt: skip
"""Stretches that are not the writer's own. Linear: what repeats is bounded, or excludes its own end."""

_MINE = r"(?![^:\n]{0,80}\b(?:me|myself)\b)"
_PASTE_BEGINS: tuple[tuple[str, re.Pattern[str]], ...] = (
    # “Translate this: …”; but not “summarise this about me: …”
    (
        "text to work on",
        re.compile(
            rf"\b(?:translate|proofread|summari[sz]e|rephrase|rewrite|paraphrase|correct|edit|fix|polish"
            rf"|shorten)\b{_MINE}"
            r"[^:\n]{0,80}:(?=\s)",
            re.I,
        ),
    ),
    # “Here's the email I got:” at the end of a line
    (
        "announced document",
        re.compile(
            rf"\b(?:here(?:'s|’s| is| are)|below is|this is|the following|see)\b{_MINE}[^:\n]{{0,80}}"
            r"\b(?:e-?mail|article|letter|text|story|poem|transcript|log|document|passage|paragraph|lyrics|message"
            r"|post|page)\b"
            r"[^:\n]{0,60}:[ \t]*$",
            re.I | re.MULTILINE,
        ),
    ),
    (
        "forwarded mail",
        re.compile(r"^-{2,9}\s?(?:original|forwarded) message|^on .{1,120} wrote:[ \t]*$", re.I | re.MULTILINE),
    ),
    (
        "mail",
        re.compile(r"^(?:from|to|subject|date|sent): .*\n(?:from|to|cc|subject|date|sent): ", re.I | re.MULTILINE),
    ),
)  # fmt: skip
"""Marks behind which the rest of a message is somebody's document."""


def own_words(text: str) -> str:
    """`text` with all that is not its writer's own words blanked out; as long as `text`."""
    for _, begins in _PASTE_BEGINS:
        if found := begins.search(text):
            text = text[: found.end()] + " " * (len(text) - found.end())
    for _, borrowed in _BORROWED:
        text = borrowed.sub(_blank, text)
    return text


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])
