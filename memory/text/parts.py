"""Parts of a text that can be left out: its sentences, and the parts of a sentence joined by commas, “and” or “but”.

Rules on the surface of English. A sentence without a visible seam is one part.
"""

import itertools
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

_SENTENCE: Final = re.compile(r"[^\n]+")
TITLE: Final = re.compile(r"\b(Dr|Mr|Mrs|Ms|Prof|St)\.(?= [A-ZÀ-ÞĀ-Ž])")
"""A title before a name; its full stop ends no sentence."""
_TITLES: Final = "".join(rf"(?<!\b{title}\.)" for title in ("Dr", "Mr", "Mrs", "Ms", "Prof", "St", "vs", "No"))
_STOP: Final = re.compile(rf"(?<=[.!?…。！？]){_TITLES}\s+|;\s*")
_SEAM: Final = re.compile(
    r"(?:,|(?<!\s))\s+(?:and|but|or|while|whereas|though)\s+(?:(?:also|still|then)\s+)?"
    r"|,\s+(?!\d)(?!(?:and|but|or|on|in|at|with|for|from|by)\s)",  # “a party, on a boat” is one
    re.I,
)
MAX_SENTENCE: Final = 2_000
"""Characters of a sentence that is taken apart: each of its seams is looked at with all that stands before it."""
_RELATIVE: Final = re.compile(
    r"(?:who|whom|which|that|whose|where|when|because|since|so|if|until|unless|for example|e\.g|aka|also)\b", re.I
)
_A_NAME: Final = r"[A-ZÀ-ÞĀ-Ž]\w+(?: [A-ZÀ-ÞĀ-Ž]\w+)?"
_PLAIN: Final = re.compile(r"[a-z'’]+")
_NAME: Final = re.compile(_A_NAME)
_SUBJECTS: Final = re.compile(
    rf"({_A_NAME}(?:, {_A_NAME})*,? and {_A_NAME}) (?:both |each |all )?(?!\w+[^s\W]s\b|is\b)(?=[a-z])"
)
"""Several people with one plural predicate; “Marks and Spencer is closed” is about one."""
_OPEN_ASIDE: Final = re.compile(r",\s+(?:who|which|whose|where)\b[^,]*$", re.I)
_PAIRED: Final = re.compile(r"\b(?:between|both|either|neither)\b(?!.*\band\b)", re.I)
_MARK: Final = re.compile(r"[()“”\"]")
_TOKEN: Final = re.compile(r"\w+(?:['’.@-]\w+)*")
_AUXILIARY_LIST: Final = """
    is are was were has have had does do did can could will would should must may am
"""
_AUXILIARY: Final = frozenset(_AUXILIARY_LIST.split())
_PAST_LIST: Final = """
    went sold bought had left took met grew made got ran came gave kept knew paid read said saw sang sat spent
    spoke taught told thought won wrote began broke built chose drove ate fell felt found flew held heard led
    lost swam
"""
_PAST: Final = frozenset(_PAST_LIST.split())
_PARTICIPLES: Final = frozenset(["named", "called", "based", "born", "made", "titled", "dated", "used"])
_ADVERBS_LIST: Final = """
    also still always never often now usually sometimes only just recently currently no
"""
_ADVERBS: Final = frozenset(_ADVERBS_LIST.split())
_PRONOUNS: Final = frozenset(["i", "we", "you", "they", "he", "she", "it"])
_DETERMINERS_LIST: Final = """
    a an the my his her our your their its this that these those some any two three four five six several many
"""
_DETERMINERS: Final = frozenset(_DETERMINERS_LIST.split())
_LINKS_LIST: Final = """
    in at on with for to from by about of as into a an the my his her our their every each
"""
_LINKS: Final = frozenset(_LINKS_LIST.split())


type _Asides = tuple[list[int], list[bool]]


@dataclass(frozen=True, slots=True)
class Part:
    """One part; `text[start:end]` are its own words."""

    number: int
    sentence: int
    start: int
    end: int
    in_context: str
    """Its words, with the subject and verb that it shares with the first part of its sentence."""
    predicate: str = ""
    """For a subject among several (“Mara and Joel live in Porto”): what is said of each."""


def numbered_parts(text: str, numbers: Collection[int]) -> list[Part]:
    """The parts with these numbers; all of them if one is missing, since the text is another than was counted."""
    parts = parts_of(text)
    return [part for part in parts if part.number in numbers or max(numbers, default=0) >= len(parts)]


@lru_cache(maxsize=2_048)
def parts_of(text: str) -> tuple[Part, ...]:
    """The parts of a text, in order."""
    found: list[Part] = []
    asides = _asides(text)
    for number, (start, end) in enumerate(sentence_spans(text)):
        if subjects := _SUBJECTS.match(text, start, end):
            predicate = text[subjects.end() : end].rstrip(" .!?…")
            for name in _NAME.finditer(text, start, subjects.end(1)):
                found.append(Part(len(found), number, *name.span(), f"{name[0]} {predicate}", predicate))
            continue
        pieces = _pieces(text, start, end, asides)
        first = text[slice(*pieces[0])]
        for left, right in pieces:
            in_sentence = text[left:right]
            in_context = in_sentence if left == pieces[0][0] else _with_start(first, in_sentence)
            found.append(Part(len(found), number, left, right, in_context))
    return tuple(found)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each sentence, in order."""
    for line in _SENTENCE.finditer(text):
        start = line.start()
        for stop in [*_STOP.finditer(line[0]), None]:
            end = line.end() if stop is None else line.start() + stop.start()
            if _TOKEN.search(text, start, end):
                yield start, end
            start = end if stop is None else line.start() + stop.end()


def _pieces(text: str, start: int, end: int, asides: _Asides) -> list[tuple[int, int]]:
    """The parts of a sentence: the first has a verb, and none starts with a relative pronoun."""
    stop = start + len(text[start:end].rstrip(" .!?…"))
    pieces: list[tuple[int, int]] = []
    left = start
    for seam in _SEAM.finditer(text, start, stop) if stop - start <= MAX_SENTENCE else ():
        before, after = text[left : seam.start()], text[seam.end() : stop]
        has_verb = bool(pieces) or verb_span(before)[1] > 0
        is_one = (
            _OPEN_ASIDE.search(before)
            or _RELATIVE.match(after)
            or _PAIRED.search(before)
            or not after.strip()
            or not before.strip()
        )
        if has_verb and not is_one and not _is_aside(asides, seam.start()):
            pieces.append((left, seam.start()))
            left = seam.end()
    pieces.append((left, stop))
    return pieces


def _asides(text: str) -> _Asides:
    """The ends of brackets and quotation marks, and whether what is before the first and after each is within them."""
    counts: Counter[str] = Counter()
    places, within = list[int](), [False]
    for mark in _MARK.finditer(text):
        counts[mark[0]] += 1
        places.append(mark.end())
        within.append(counts["("] > counts[")"] or counts["“"] > counts["”"] or counts['"'] % 2 == 1)
    return places, within


def _is_aside(asides: _Asides, place: int) -> bool:
    """Within brackets or quotation marks."""
    places, within = asides
    return within[bisect_right(places, place)]


def verb_span(text: str) -> tuple[int, int]:
    """The start and end of the first verb; (0, 0) if there is none."""
    tokens = list(_TOKEN.finditer(text))
    for place, token in enumerate(tokens):
        word, before = token[0], tokens[place - 1][0].casefold() if place else ""
        lower = word.casefold()
        if lower in ("i'm", "i've", "we're", "we've", "i’m", "i’ve"):
            return token.start() + 1, token.end()
        if (
            not place
            or not _PLAIN.fullmatch(word)
            or lower in _DETERMINERS
            or lower in _PARTICIPLES
            or lower.endswith(("'s", "’s"))
        ):
            continue
        after_subject = before in _PRONOUNS or _is_the_user(tokens, place) or tokens[place - 1][0][:1].isupper()
        skipped = lower in _ADVERBS or lower.endswith("ly")
        if skipped and after_subject and place + 1 < len(tokens):
            follower = tokens[place + 1]
            return follower.start(), follower.end()
        if lower in _AUXILIARY or lower in _PAST or (after_subject and lower not in _LINKS and before != "the"):
            return token.start(), token.end()
        if re.fullmatch(r"[a-z]{2,}(?:(?<!s)s|ed)", word) and before not in _DETERMINERS:
            return token.start(), token.end()
    return 0, 0


def _is_the_user(tokens: Sequence[re.Match[str]], place: int) -> bool:
    return place > 1 and tokens[place - 1][0] == "user" and tokens[place - 2][0].casefold() == "the"


def _is_clause(text: str) -> bool:
    """Whether it has its own subject: “his wife Anna teaches maths”."""
    first = _TOKEN.search(text)
    has_subject = first is not None and (
        first[0].casefold() in _DETERMINERS | _PRONOUNS or first[0][:1].isupper() or first[0].casefold().endswith("'s")
    )
    return has_subject and verb_span(text)[1] > 0


def _is_predicate(text: str) -> bool:
    """Whether it starts with a verb: “works at Acme”, “run marathons”."""
    tokens = _TOKEN.findall(text)
    if not tokens or tokens[0] != tokens[0].casefold() or tokens[0] in _DETERMINERS:
        return False
    if tokens[0] in _AUXILIARY | _PAST | _ADVERBS:
        return True
    follows = len(tokens) > 1 and tokens[1].casefold() not in _PARTICIPLES and tokens[1] != "of"
    is_verb = re.fullmatch(r"[a-z]{2,}(?:(?<!s)s|ed)", tokens[0]) is not None
    return follows and (is_verb or tokens[1].casefold() in _LINKS)


_LINK: Final = re.compile(
    r"\s+(?:(?!(?:a|an|the|my|his|her|their|our)\b)[a-z]+ ){0,2}?(?:in|at|on|with|for|to|from|by|about|of|as|into)\s"
)
"""What the items of a list share besides the verb: “is allergic to …”, “has been to …”."""
_SINGULAR: Final = {"are": "is", "were": "was", "have": "has", "do": "does", "had": "had", "was": "was"} | {
    word: word for word in ("can", "could", "will", "would", "should", "must", "may", "never", "always", "often")
}


# Leaving parts out -------------------------------------------------------------------------------------------------


def without_parts(text: str, numbers: Collection[int]) -> str:
    """The text without these parts, still well-formed; empty if nothing is left."""
    parts = parts_of(text)
    pieces, last, follows_gap = list[str](), 0, False
    for _, together in itertools.groupby(parts, key=lambda part: part.sentence):
        in_sentence = list(together)
        last_word = text.index(in_sentence[-1].predicate, in_sentence[-1].end) + len(in_sentence[-1].predicate)
        end = _sentence_end(text, last_word)
        kept = [part for part in in_sentence if part.number not in numbers]
        gap = text[last : in_sentence[0].start]
        last = end
        if not kept:
            pieces.append("\n" if "\n" in gap and pieces else "")
            follows_gap = True
            continue
        pieces.append(gap)
        left = (
            text[in_sentence[0].start : last_word]
            if len(kept) == len(in_sentence)
            else _rebuilt(text, in_sentence, kept)
        )
        if follows_gap and re.search(r"(?:[.!?…]\s*|^)$", "".join(pieces)):
            left = left[:1].upper() + left[1:]
        pieces.append(left + text[last_word:end])
        follows_gap = False
    left = re.sub(r"\n{3,}", "\n\n", "".join(pieces) + text[last:]).strip()
    return re.sub(r"[;,]$", ".", left) if _TOKEN.search(left) else ""


def blank_parts(text: str, numbers: Collection[int], mark: str) -> str:
    """The text with a mark in the place of these parts."""
    for part in reversed(parts_of(text)):
        if part.number in numbers:
            text = text[: part.start] + mark + text[part.end :]
    return text


def _sentence_end(text: str, end: int) -> int:
    closing = re.compile(r"[ .!?…;]*").match(text, end)
    return closing.end() if closing else end


def _rebuilt(text: str, in_sentence: Sequence[Part], kept: Sequence[Part]) -> str:
    words = [text[part.start : part.end] for part in kept]
    if in_sentence[0].predicate:
        return (
            f"{_listed(words)} {in_sentence[0].predicate if len(words) > 1 else _in_singular(in_sentence[0].predicate)}"
        )
    if kept[0] is not in_sentence[0]:
        words[0] = _with_start(text[in_sentence[0].start : in_sentence[0].end], words[0])
    seams = [text[one.end : other.start] for one, other in itertools.pairwise(in_sentence)]
    joined = words[0]
    for place, word in enumerate(words[1:], start=1):
        joined += (seams[-1] if place == len(words) - 1 else ", ") + word
    return joined


def _with_start(first: str, kept: str) -> str:
    """A part that moves to the start of its sentence, with the subject it shared with the first part."""
    if _is_clause(kept) and not _shares_a_list(kept):
        return kept[:1].upper() + kept[1:]
    verb_start, verb_end = verb_span(first)
    if _is_predicate(kept):
        return f"{first[:verb_start].strip()} {kept}"
    link = _LINK.match(first, verb_end)
    return f"{first[: link.end() if link else verb_end].strip()} {kept}"


def _listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _in_singular(predicate: str) -> str:
    """“Live in Porto” → “lives in Porto”."""
    verb, space, rest = predicate.partition(" ")
    if verb in _PAST or verb.endswith("ed"):
        return predicate
    ending = "es" if verb.endswith(("s", "sh", "ch", "x", "o")) else "s"
    return f"{_SINGULAR.get(verb, verb + ending)}{space}{rest}"


def _shares_a_list(kept: str) -> bool:
    return re.match(r"(?:a|an|two|three|some)\s", kept, re.I) is not None and verb_span(kept)[1] == 0
