"""The user's own words in a message; only those are evidence.

Code, quotations and pasted documents are in a message without being the writer's claims. They are replaced by spaces,
one per character, so that positions stay the same.
"""

import re
from collections.abc import Iterable
from typing import Final

type Span = tuple[int, int]
"""From one character of a text up to, but not including, another."""

_BORROWED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("code block", re.compile(r"^[ \t]{0,8}(```|~~~)[\s\S]*?(?:^[ \t]{0,8}\1|\Z)", re.MULTILINE)),
    ("inline code", re.compile(r"`[^`\n]{1,300}`")),
    ("quoted lines", re.compile(r"^[ \t]{0,8}>.*$", re.MULTILINE)),
    # A quotation opens after a gap and closes before one, so 5'10" and don't open none.
    ("quotation", re.compile(r"(?<![^\s(\[])\"(?=\S)[^\"]{1,2000}\"(?!\w)")),
    ("quotation", re.compile(r"“[^“”]{1,2000}”|„[^„“”]{1,2000}[“”]|«[^«»]{1,2000}»")),
    ("quotation", re.compile(r"(?<![^\s(\[])['‘](?=\w)(?:[^'’\n]|['’](?=\w)){1,300}['’](?!\w)")),
    (
        "tagged text",
        re.compile(
            r"<(document|context|file|article|email|transcript|paste)\b[^<>]{0,200}>[\s\S]*?(?:</\1>|\Z)", re.I
        ),
    ),
    # “You assumed my name was Gareth, very odd”
    (
        "what the assistant said",
        re.compile(
            r"(?<!do )(?<!did )(?<!if )(?<!can )(?<!would )(?<!could )(?<!should )(?<!what )\byou(?:['’]ve| have| had)?"
            r" (?:just |only |also |wrongly |even |keep |kept )?(?:said|saying|wrote|assum(?:e|ed|ing)|thought|think"
            r"|guess(?:ed)?|claim(?:ed)?|believed?|reckon(?:ed)?|decided|invented|call(?:ed|ing) me|told me)\b"
            r"(?:(?! (?:and|but|so) )[^.;:!?,\n]){0,160}(?=[.;:!,\n]|$| (?:and|but|so) )",
            re.I,
        ),
    ),
)  # fmt: skip
"""Stretches that aren't the writer's own. Linear: repetitions are bounded, or exclude their own end."""

_MINE = r"(?![^:\n]{0,80}\b(?:me|myself)\b)"
_PASTE_BEGINS: tuple[tuple[str, re.Pattern[str]], ...] = (
    # “Translate this: …”; but not “summarize this about me: …”
    (
        "text to work on",
        re.compile(
            rf"\b(?:translate|proofread|summari[sz]e|rephrase|rewrite|paraphrase|correct|edit|fix|polish"
            rf"|shorten|make (?:this|it|these|that)|improve|review|critique)\b{_MINE}"
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
    # its header has names, too
    (
        "mail",
        re.compile(r"^(?=(?:from|to|subject|date|sent): .*\n(?:from|to|cc|subject|date|sent): )", re.I | re.MULTILINE),
    ),
)  # fmt: skip
"""Markers after which the rest of a message is a pasted document."""


_ASKED_ABOUT = re.compile(
    r"\b(?:what do you (?:think|make) of (?:this|that|these|it|the following)|thoughts|feedback|any (?:ideas|comments)"
    r"|(?:is|does|are|do) (?:this|these|it) (?:ok|okay|right|correct|true|sound|look|read|make sense)\b"
    r"|(?:check|proofread|review|improve|critique|summari[sz]e|translate|rewrite|rephrase|look (?:at|over|through)|read"
    r"|fix|edit|explain|shorten|comment on|answer|reply to|respond to) (?:this|these|that|it|the following|below)\b"
    r"|(?:check|proofread|edit|polish|rephrase|translate),? (?:please|pls|plz)\b"
    r"|tl;?dr|make (?:this|it) (?:shorter|longer|better|clearer|nicer|more|less|sound)"
    r"|(?:got|received|found|saw) (?:this|the following)\b)",
    re.I,
)
"""A first paragraph that is about the paragraphs below it."""
_ONLY_A_LINK = re.compile(r"\s*<?https?://\S+>?\s*")
PASTED_WORDS = 25
"""Minimum words of the text below such a paragraph to count as pasted: the user's own remarks are shorter."""

_SALUTATION = re.compile(
    r"^[ \t]{0,4}(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|to whom)\b[^\n.!?]{0,60}[,:!.]?[ \t]*$",
    re.I | re.MULTILINE,
)
_CLOSING = re.compile(
    r"^[ \t]{0,4}(?:(?:best|kind|warm|with kind|many|all the)[ \t]{0,3}(?:regards|wishes|best|thanks)|regards|sincerely"
    r"|yours(?: sincerely| truly| faithfully)?|cheers|best|love|xoxo|respectfully|sent from my\b[^\n]{0,40}"
    r"|get outlook\b[^\n]{0,40})(?:[,.!]?|, (?-i:[A-ZÀ-ÞĀ-Ž])[^\n]{0,40})[ \t]*$",
    re.I | re.MULTILINE,
)
THE_ASSISTANT: Final = r"(?:assistant|ai|recall|claude|chat ?bot|bot|computer|helper)\b"
"""Greetings of a letter to Recall itself."""
_TO_RECALL = re.compile(rf"\s*dear {THE_ASSISTANT}", re.I)
SIGNED = 3
"""Lines below a closing that still belong to the letter: name, place, telephone."""


def mask_foreign_text(text: str, echoes: Iterable[Span] = ()) -> str:
    """`text` with everything but its writer's own words blanked out, `echoes` included; as long as `text`."""
    text = mask_spans(text, echoes)
    for _, begins in _PASTE_BEGINS:
        if found := begins.search(text):
            text = text[: found.end()] + " " * (len(text) - found.end())
    for span in (_asked_about(text), _letter(text)):
        text = mask_spans(text, [span]) if span else text
    for _, borrowed in _BORROWED:
        text = borrowed.sub(_blank, text)
    return text


_QUOTATIONS: Final = tuple(pattern for name, pattern in _BORROWED if name == "quotation")
_OF_ONESELF: Final = re.compile(r"\b(?:I|i|I['’]\w+|my|My|we|We|our)\b")
_SUPPOSITION: Final = re.compile(
    r"(?im)(?:^|(?<=[.!?] ))[^\w\n]{0,9}(?:(?:and|but|so|ok|okay|then),? )?(?:(?:suppos(?:e|ing)|imagine|pretend"
    r"|let['’]?s say|say|what if|assum(?:e|ing)|hypothetically)\b[^.!?\n]{0,300}\b(?:i|we|my)\b"
    r"|if (?:i|we) (?:had|were|was|won|got|went|could|ever|[a-z]{2,12}ed)\b)[^.!?\n]*"
)


def mask_others_claims(text: str) -> str:
    """`text` without what it only supposes of its writer, and what quotations of someone say of themselves."""
    for pattern in _QUOTATIONS:
        text = pattern.sub(lambda found: _blank(found) if _OF_ONESELF.search(found[0]) else found[0], text)
    return _SUPPOSITION.sub(_blank, text)


def _asked_about(text: str) -> Span | None:
    """A long text below a first paragraph that asks about it or is only a link."""
    first, _, below = text.partition("\n\n")
    if len(below.split()) < PASTED_WORDS or not (_ASKED_ABOUT.search(first) or _ONLY_A_LINK.fullmatch(first)):
        return None
    return len(text) - len(below), len(text)


def _letter(text: str) -> Span | None:
    """A letter without a header: from its salutation to its closing and the lines below.

    One at the start of the message is the user's own, to Recall, unless it says “Dear” to anyone but the assistant.
    """
    closings = list(_CLOSING.finditer(text))
    salutation = _SALUTATION.search(text)
    if not closings or salutation is None or salutation.start() > closings[-1].start():
        return None
    begins = not text[: salutation.start()].strip()
    if begins and (_TO_RECALL.match(salutation[0]) or not salutation[0].strip().casefold().startswith("dear")):
        return None
    end = closings[-1].end()
    for _ in range(SIGNED):
        following = text.find("\n", end + 1)
        end = len(text) if following < 0 else following
    return salutation.start(), end


def mask_spans(text: str, spans: Iterable[Span]) -> str:
    """`text` with the spans, in order and disjoint, blanked out. Line breaks stay."""
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], _SEEN.sub(" ", text[start:end])]
        at = end
    return "".join(parts) + text[at:]


_SEEN = re.compile(r"[^\n]")


def _blank(found: re.Match[str]) -> str:
    return _SEEN.sub(" ", found[0])
