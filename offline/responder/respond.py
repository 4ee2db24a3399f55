"""The demo's answers: a short list of rules over the memories in the request. No language model.

`RULES` decides: the first rule that returns a reply answers. Only the user's own last text is obeyed; recalled
memories, profile lines and tool results are data to answer from, whatever they say.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise, takewhile
from typing import Any

from offline.protocol.reply import Reply, Search, Text, Thinking, ToolCall
from offline.protocol.schema import minimal_instance
from offline.responder import patterns, wording
from offline.responder.arithmetic import work_out
from offline.responder.grammar import (
    LEAD_IN,
    TAKES_BACK,
    find_contrast,
    in_past,
    restate_claim,
    second_person,
    third_person,
    without_contrast,
    without_denied,
)
from offline.responder.matching import (
    BEFORE,
    ENDS,
    NAMED,
    OF_ONESELF,
    OF_SOMEONE,
    OF_SOMEONE_UNNAMED,
    ONE_SUBJECT,
    OVER,
    OWNED,
    PRONOUN_SUBJECT,
    QUOTED,
    SENTENCE,
    SEVERAL_ASKED,
    Match,
    asks_past,
    best_matches,
    best_of_kind,
    closest,
    has_answer_kind,
    is_about_another,
    is_wh_question,
    newest_mention,
    says_more,
    sentences,
    stems,
    whom_asked,
)
from offline.responder.request_facts import DOUBT, Memory, Reading
from offline.search import demo_page

type Rule = Callable[[Reading], Reply | None]

OF_USER = re.compile(r"(?i)\byou(?:r|rs)?\b")
SAYS_BEFORE = re.compile(r"(?i)\b(?:before (?:this|that|then)|previously|formerly|used to)\b")  # in what holds now, too
PERHAPS_CHANGED = "perhaps changed by "  # how a memory's qualifier starts, before the id of the newer message
CORRECTED = "corrected"  # the demo's own, of what the user wrote and corrected right after
FOLLOWED = "followed"  # and what the user wrote right after it
NOT_STATED = "not stated"  # how the qualifier ends of what seemed asked, or made up: it may be so nevertheless
FIRST_SESSION = "this is the first"  # how the clock says that there was no last one
LAST_SESSION = "last session"  # and what the conversation before started and ended with
UNMARKED = ("", LAST_SESSION)
OF_A_LIST = "list:"  # how the attribute starts that a list of the user's is marked with
ON_LIST = re.compile(
    r"(?:is|are|do i have|have i got)(?: there)? (?P<thing>.+?)(?: still| already| yet)? on (?:my|our|the) ", re.I
)
LIKELY = "question"  # how Recall marks what most likely answers, where it asks for no attribute
# How what is doubted waits, and what was hardly understood: the user's own words say more.
NO_ANSWER = (DOUBT, "The user mentions")
NAMES = re.compile(r"(?<!^)\b(?!I\b)[A-ZÀ-ÞĀ-Ž]\w+")
PARTS = re.compile(r"[,;\n] ?")
REQUEST_STATES = re.compile(rf"{OF_ONESELF.pattern}|\w: \w+ \w+.*", OF_ONESELF.flags)
CLAUSE = re.compile(r"[,;.!?]")  # “I'm allergic to birch, springs are awful” is no feeling of the user's
MASKED = "[secret]"  # how Recall hides one from a model
CHANGED = "[changed]"  # and what the user said is something else
MAX_LISTED = 8
STATED = 0.4  # of a message that isn't marked: a mere question is no answer
SAME_WORDS = 0.6  # of the answer's words: so many are in the message that it was learned from
MAX_SHOWN = 1_200  # of a file
MAX_SAID = 240  # characters of one remembered sentence
MAX_QUOTED = 600  # characters of a message that is quoted as it was written


def respond(reading: Reading) -> Reply:
    """Answer a request; thinking comes first and says what was really done."""
    if reading.forced and not reading.results:
        return Reply((_call(reading, reading.forced),))
    for rule in RULES:
        reply = rule(reading)
        if reply is not None:
            return Reply((_account(reading), *_introduced(reading, rule, reply)))
    raise AssertionError("the last rule answers everything")


def structured(schema: dict[str, object]) -> Reply:
    """The unscripted answer to a request for structured output: valid and empty."""
    return Reply((Text(json.dumps(minimal_instance(schema))),))


def say(*paragraphs: str) -> Reply:
    return Reply((Text("\n\n".join(filter(None, paragraphs))),))


def _account(reading: Reading) -> Thinking:
    counts = (
        _counted(len(reading.memories), "memory", "memories"),
        _counted(len(reading.profile), "line of your profile", "lines of your profile"),
        _counted(len(reading.exchanges), "earlier message", "earlier messages"),
    )
    return Thinking(f"I looked at {counts[0]}, {counts[1]} and {counts[2]}. As a demo I follow simple rules.")


def _introduced(reading: Reading, rule: Rule, reply: Reply) -> tuple[Any, ...]:
    """The reply, with what the demo is if no earlier answer of this conversation says so; at length in the first."""
    *others, last = reply.blocks
    is_known = any(wording.INTRODUCTION in said for _, said in reading.exchanges)
    if is_known or rule in UNINTRODUCED or _is_report(reading) or not isinstance(last, Text):
        return reply.blocks
    more = "" if "real model" in last.text or not _is_first_session(reading) else f" {wording.REAL_MODEL}"
    return (*others, Text(f"{last.text}\n\n{wording.INTRODUCTION}{more}"))


def _is_first_session(reading: Reading) -> bool:
    return reading.clock.get("Last session", FIRST_SESSION) == FIRST_SESSION


def _is_report(reading: Reading) -> bool:
    """Whether the answer only passes on what a tool said."""
    return bool(reading.results) and (reading.results[-1].failed or reading.results[-1].name in REPORTED)


def _counted(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"


def _in_turn(lines: tuple[str, ...], reading: Reading) -> str:
    """One of the lines, a different one each turn."""
    return lines[len(reading.exchanges) % len(lines)]


def _continue(reading: Reading) -> Reply | None:
    """Continue where the answer stopped: generate it again and leave out what was already said."""
    if not patterns.CONTINUE.match(reading.question) or not reading.exchanges:
        return None
    earlier = list(reading.exchanges)
    said = ""
    while earlier:
        question, answer = earlier.pop()
        said = f"{answer.rstrip()}{said}"
        if not patterns.CONTINUE.match(question) or not earlier:
            break
    reply = respond(replace(reading, question=question, exchanges=tuple(earlier), forced=None))
    if any(isinstance(block, ToolCall) for block in reply.blocks):
        return reply
    rest = _rest("".join(block.text for block in reply.blocks if isinstance(block, Text)), said)
    return say(rest or wording.NOTHING_TO_ADD)


def _rest(full: str, said: str) -> str | None:
    """The part of `full` after `said`; None if `full` doesn't start with it. White space doesn't count."""
    at = 0
    for sign in re.sub(r"\s", "", said):
        while at < len(full) and full[at].isspace():
            at += 1
        if at == len(full) or full[at] != sign:
            return None
        at += 1
    return full[at:].strip() or None


def _tool_answered(reading: Reading) -> Reply | None:
    """After a tool's result: report the outcome it states, or answer from what the search found."""
    if not reading.results:
        return None
    last = reading.results[-1]
    result_text = " ".join(memory.text for memory in last.memories)
    if last.failed:
        return say(f"The tool `{last.name}` failed: {result_text or 'it gave no reason'}")
    if last.name in REPORTED:
        return say(_reported(result_text) or "Done.")
    found = [memory for result in reading.results for memory in result.memories if not result.failed]
    return (
        _answer_marked(reading)
        or _best_answer(reading, found)
        or _undoubted(reading, found)
        or _nearest(reading)
        or _not_known(reading, wording.NOT_FOUND)
    )


def _reported(text: str) -> str:
    """A tool's outcome, in the second person."""
    quoted = re.sub(r"“([^”]*)”", lambda found: f"“{second_person(found[1])}”", text)
    return quoted.replace("the person's", "your").replace("the person", "you")


def _danger(reading: Reading) -> Reply | None:
    return say(wording.DANGER) if patterns.DANGER.search(reading.question) else None


def _secret(reading: Reading) -> Reply | None:
    if patterns.ASKS_SECRET.search(reading.question):
        return say(wording.NEVER_SEEN)
    return say(wording.NOT_REPEATED) if patterns.SECRET.search(reading.question) else None


def _forget(reading: Reading) -> Reply | None:
    """Say where to forget. If Recall has already handled it, a note in the prompt says so."""
    if any(patterns.FORGET_NOTE in note for note in reading.notes):
        return say(wording.FORGET_HERE)
    wanted = patterns.FORGET.match(reading.question)
    if wanted is None or patterns.NEVER_MIND.match(reading.question):
        return None
    topic = second_person(wanted[1]).rstrip(".") if wanted[1] else "something"
    return say(wording.FORGET_THERE.format(topic=topic[0].lower() + topic[1:] if wanted[1][:1].islower() else topic))


def _remember(reading: Reading) -> Reply | None:
    wanted = patterns.REMEMBER.match(reading.question)
    if wanted is None or (not wanted["asked"] and (_is_question(reading.question) or "? " in reading.question)):
        return None
    if "remember" in reading.tools:
        return Reply((ToolCall("remember", {"statement": third_person(wanted["what"].rstrip("?"))}),))
    return say(wording.NO_TOOL)


def _showcase(reading: Reading) -> Reply | None:
    wanted = patterns.SHOWCASE.search(reading.question) and patterns.SHOWING.search(reading.question)
    return say(wording.SAMPLE) if wanted else None


def _clock(reading: Reading) -> Reply | None:
    """The time from the clock lines, in everyday words."""
    asked = reading.question
    now, day = reading.clock.get("Current time", ""), reading.clock.get("Current date", "")
    if patterns.TIME.search(asked) and now:
        zone = reading.clock.get("User timezone", "")
        return say(
            f"It's {datetime.fromisoformat(now):%H:%M}{f' ({zone})' if zone else ''}{f', {day}' if day else ''}."
        )
    return say(f"It's {day}.") if patterns.DATE.search(asked) and day else None


def _sum(reading: Reading) -> Reply | None:
    result = work_out(reading.question)
    return say(result) if result else None


def _name(reading: Reading) -> Reply | None:
    """The user's name, if they ask for it or have just said it."""
    stated = patterns.NAME_STATED.match(LEAD_IN.sub("", reading.question))
    if stated and not _is_question(reading.question):
        return say(wording.NEW_NAME.format(name=stated[1]))
    if patterns.CALL_ME.search(reading.question):
        said = (sentence for memory in _known(reading) for sentence in sentences(memory.text))
        wanted = next(filter(None, map(patterns.CALLED.search, said)), None)
        called = wanted[1] if wanted else reading.clock.get("User name", "")
        if called:
            return say(f"I call you {called}.")
    if patterns.SURNAME.search(reading.question):
        statements = (
            sentence for memory in _known(reading) if memory.is_current for sentence in sentences(memory.text)
        )
        found = next(filter(None, map(patterns.SURNAME_STATED.search, statements)), None)
        whole = _known_name(reading, whole=True)
        surname = found[1] if found else whole.rpartition(" ")[2] if " " in whole else ""
        return say(f"Your surname is {surname}.") if surname else None
    name = _known_name(reading, whole=True)
    return say(f"Your name is {name}.") if name and patterns.NAME.search(reading.question) else None


def _known_name(reading: Reading, *, whole: bool = False) -> str:
    """The name from the clock lines (not the whole), what was said or the profile; empty: unknown."""
    statements = (sentence for memory in _known(reading) for sentence in sentences(memory.text))
    stated = next(filter(None, map(patterns.NAME_STATED.match, statements)), None)
    shown = reading.clock.get("User name", "")
    if stated is None or (shown and not whole):
        return shown
    return stated[1] if whole else stated[1].split()[0]


def _identity(reading: Reading) -> Reply | None:
    return say(wording.SELF) if patterns.IDENTITY.search(reading.question) else None


def _help(reading: Reading) -> Reply | None:
    return say(wording.HELP) if patterns.HELP.match(_extract_question(reading)) else None


def _overview(reading: Reading) -> Reply | None:
    """A short list of what is known: facts, or what was said if there are none."""
    if not patterns.OVERVIEW.search(reading.question):
        return None
    facts = [*reading.profile, *(memory for memory in reading.memories if memory.id.startswith(("fact:", "profile")))]
    said = _statements(reversed(_list_statements(reading)))
    known = _statements(facts)
    lines = known or _statements([*reading.memories, *_list_statements(reading)])
    if not lines:
        return say(_nothing_known(reading))
    more = wording.MORE_KNOWN.format(count=len(lines) - MAX_LISTED) if len(lines) > MAX_LISTED else ""
    listed = "\n".join(f"- {line}" for line in lines[:MAX_LISTED])
    here = [line for line in said if known and line not in known and OF_USER.search(line)][-MAX_LISTED:]
    since = "\n".join((wording.SAID_HERE, "", *(f"- {line}" for line in here))) if here else ""
    return say(wording.ABOUT_USER, listed, more, since, _waiting(reading))


def _nothing_known(reading: Reading) -> str:
    if reading.is_temporary and not reading.tools:
        return wording.NOTHING_READ
    waits = _waiting(reading)
    return f"{wording.NONE_SAVED} {waits}" if waits else wording.NOTHING_KNOWN


def _waiting(reading: Reading) -> str:
    """How many memories wait for review, and where; empty: none."""
    count = reading.clock.get("Memories waiting for review", "")
    waits = "1 memory waits" if count == "1" else f"{count} memories wait"
    return wording.WAITS.format(count=waits) if count else ""


def _statements(memories: Iterable[Memory]) -> list[str]:
    """Each current statement once, in the second person; a single word is a heading."""
    said = (sentence for memory in memories if memory.is_current for sentence in sentences(memory.text))
    return list(dict.fromkeys(second_person(sentence) for sentence in said if " " in sentence))


def _web(reading: Reading) -> Reply | None:
    """A question about something new: search the web with the offered tool, ours or the provider's."""
    if not patterns.RECENT.search(reading.question) or patterns.OWN.search(reading.question):
        return None
    asked = _extract_question(reading)
    if "web_search" in reading.tools:
        return Reply((ToolCall("web_search", {"query": asked}),))
    if not reading.server_search:
        return None
    page = demo_page(asked)
    shown = {"title": page["title"], "url": page["url"]}
    found = _answer_from(reading, [Match(page["content"], Memory(page["content"], page["url"]))])
    return Reply((Search(asked, (shown,)), *found.blocks))


def _greeting(reading: Reading) -> Reply | None:
    """Return a greeting, or a question what the last conversation was about, with what was last left open."""
    last_said = [memory for memory in reading.memories if memory.answers == LAST_SESSION]
    is_asked = bool(last_said) and _is_question(reading.question)
    if not (is_asked or patterns.GREETING.match(reading.question) or patterns.RETURNING.match(reading.question)):
        return None
    name = _known_name(reading)
    lines = wording.WELCOME if _is_first_session(reading) or reading.exchanges else wording.WELCOME_BACK
    first = (_in_turn(lines, reading)).format(name=f", {name}" if name else "")
    if is_asked:
        return say(first, *_last_time(last_said))
    open_ = [line for m in reading.memories for line in _open_in(m) if line.startswith("The user")]
    if open_:
        return say(f"{first} Last time: {_lower(second_person(open_[0]))}")
    goal = next((one.text for one in reading.profile if one.is_current and patterns.GOAL.match(one.text)), "")
    if goal:
        return say(wording.STILL_OPEN.format(welcome=first, goal=_lower(second_person(goal))))
    said = (memory.text for memory in reading.memories if memory.id.startswith("message:"))
    longest = max((text for text in said if not any(words.match(text) for words, _ in COURTESIES)), key=len, default="")
    return say(wording.LAST_SAID.format(welcome=first, said=longest) if longest else first)


def _said_here(reading: Reading) -> Reply | None:
    """The first or the last message of this conversation, for who asks for it."""
    wanted = patterns.SAID_HERE.match(reading.question)
    if wanted is None or not reading.exchanges:
        return None
    words = reading.exchanges[0 if wanted["which"].lower() == "first" else -1][0]
    return say(wording.OWN_WORDS.format(words=_short(words, MAX_QUOTED))) if words else None


def _last_time(said: Sequence[Memory]) -> list[str]:
    """What the conversation before started with, and ended with."""
    first, last = (_short(_written(one), MAX_QUOTED) for one in (said[0], said[-1]))
    return [wording.STARTED.format(words=first), wording.ENDED.format(words=last) if last != first else ""]


def _open_in(memory: Memory) -> list[str]:
    """The first statement of a fact or an episode, or what waits in a message."""
    if memory.is_waiting:
        return sentences(memory.text.splitlines()[-1])[:1]
    return sentences(memory.text)[:1] if memory.id.startswith(("fact:", "episode:")) else []


def _courtesy(reading: Reading) -> Reply | None:
    """Thanks, goodbye, yes and no."""
    if patterns.WELL.search(reading.question):
        return say(wording.WELL)
    if reading.question.rstrip().endswith("?"):  # “Thanks. And where does she work?”
        return None
    lines = next((lines for pattern, lines in COURTESIES if pattern.match(reading.question)), None)
    name = _known_name(reading)
    return say(_in_turn(lines, reading).format(name=f", {name}" if name else "")) if lines else None


def _attached(reading: Reading) -> Reply | None:
    """A question with a file: what is in the file, or its sentence that answers."""
    files = reading.attached or reading.attached_before
    asked = _extract_question(reading)
    asks_for_all = bool(patterns.WHAT_IS_IN_IT.search(reading.question)) or _is_named(reading.question, files)
    if not files or not (reading.attached or asks_for_all):
        return None
    if not reading.question:
        return say(*(wording.FILE_READ.format(name=_file_name(one)) for one in files))
    if not _is_question(reading.question) and not patterns.TASK.match(reading.question) and not asks_for_all:
        return None
    found = best_matches(asked, files)
    if found and not asks_for_all:
        return _answer_from(reading, found)
    return say(*(_shown(one) for one in files)) if asks_for_all else None


def _is_named(asked: str, files: Sequence[Memory]) -> bool:
    return any(one.title and one.title.lower() in asked.lower() for one in files)


def _file_name(file: Memory) -> str:
    return file.title or "the text that you pasted"


def _shown(file: Memory) -> str:
    """The start of a file, quoted line by line."""
    words = file.text if len(file.text) <= MAX_SHOWN else f"{file.text[:MAX_SHOWN].rsplit(' ', 1)[0]} …"
    if not words:
        return wording.EMPTY_FILE.format(name=_file_name(file))
    quoted = "\n".join(f"> {line}".rstrip() for line in words.splitlines())
    return wording.IN_FILE.format(name=_file_name(file).capitalize() if not file.title else file.title, words=quoted)


def _recall(reading: Reading) -> Reply | None:
    """A question: answer from what is known, else search, else say that it isn't known."""
    if patterns.REMINDER.match(reading.question):
        return say(wording.NO_REMINDERS)
    if patterns.LIST_OPENED.match(reading.question):
        return say(_in_turn(wording.READ, reading))
    task = patterns.TASK.match(reading.question) or patterns.TASK.match(_last_question(reading))
    if not task and not _is_question(reading.question):
        return None
    answer = _over(reading) or _answer_marked(reading) or _best_answer(reading, _known(reading))
    answer = answer or _quote_likely(reading)
    if answer:
        return answer
    if task or _wants_advice(reading):
        alone = "" if task else _alone(reading)
        return say(
            f"{_noted(reading)} {wording.TASK if task else _in_turn(wording.ADVICE, reading)}".strip(),
            wording.MAY_HELP.format(words=alone) if alone else "",
        )
    if "search_knowledge" in reading.tools:
        return Reply((ToolCall("search_knowledge", {"query": _extract_question(reading)}),))
    return _undoubted(reading, ()) or _nearest(reading) or _not_known(reading, wording.UNKNOWN)


def _noted(reading: Reading) -> str:
    """What a request says of the user in its own paragraph, said back; empty: nothing clear."""
    claim = restate_claim(reading.question.partition("\n")[0])
    lines = wording.NOTED_HERE if reading.is_temporary else wording.NOTED
    return _in_turn(lines, reading).format(claim=claim) if claim else ""


def _wants_advice(reading: Reading) -> bool:
    """Whether a question asks what to do, or is of something else than the user and only ends what they say."""
    asked = _extract_question(reading)
    return bool(patterns.ADVICE.search(asked)) or (asked != reading.question.strip() and not patterns.OWN.search(asked))


def _not_known(reading: Reading, lines: tuple[str, ...]) -> Reply:
    return say(_in_turn(lines, reading), wording.GENERAL if patterns.GENERAL.match(reading.question) else "")


def _feeling(reading: Reading) -> Reply | None:
    """A loss, a feeling or a joy: a kind sentence."""
    said = reading.question
    if patterns.LOSS.search(said):
        return say(wording.SORRY)
    for feeling, lines in ((patterns.FEELING, wording.FEELING), (patterns.JOY, wording.JOY)):
        if any(patterns.FEELS.search(one) and feeling.search(one) for one in CLAUSE.split(said)) and (
            not patterns.DENIES.search(said)
        ):
            return say(_in_turn(lines, reading))
    return None


def _note(reading: Reading) -> Reply:
    """Anything but a question: restate it in one line if it is a clear claim."""
    said = reading.question
    before = [one.text for one in reversed(_list_statements(reading))]
    place, mended = _mended(before, said)
    changed = _changed(before[place], mended) if place < len(before) else ""
    if changed:
        return say(wording.MEANT.format(meant=_lower(second_person(changed)).rstrip(".")))
    meant = patterns.MEANT.match(said)
    if meant:
        return say(wording.MEANT.format(meant=second_person(meant[1]).rstrip(".") if " " in meant[1] else meant[1]))
    noted = patterns.LIST.match(said)
    if noted and not reading.is_temporary:
        return say(wording.NOTED_LIST.format(head=noted[1].lower(), rest=noted[2].rstrip(".")))
    claim = restate_claim(said)
    if claim:
        return say(_in_turn(wording.NOTED_HERE if reading.is_temporary else wording.NOTED, reading).format(claim=claim))
    return say(_in_turn(wording.SHARED if patterns.SHARED.match(said) else wording.READ, reading))


def _changed(before: str, mended: str) -> str:
    """The statement that is new in a corrected message; empty: a question is."""
    return next((one for one in sentences(mended) if one not in before), "")


RULES: tuple[Rule, ...] = (
    _continue,
    _tool_answered,
    _danger,
    _secret,
    _remember,
    _forget,
    _showcase,
    _identity,
    _clock,
    _sum,
    _name,
    _help,
    _overview,
    _attached,
    _web,
    _said_here,
    _greeting,
    _courtesy,
    _recall,
    _feeling,
    _note,
)
UNINTRODUCED = (_continue, _identity, _danger, _feeling)  # an introduction would be out of place there, or repeated
COURTESIES = (
    (patterns.THANKS, wording.THANKS),
    (patterns.GOODBYE, wording.GOODBYE),
    (patterns.YES, wording.AGREED),
    (patterns.NO, wording.REFUSED),
    (patterns.WRONG, wording.CORRECTED),
    (patterns.NEVER_MIND, wording.REFUSED),
)
SAME_RELATION = (("mother", "mum", "mom"), ("father", "dad"), ("dog", "puppy"), ("cat", "kitten"))
REPORTED = ("remember", "update_task")  # what these answer is said to the user


def _known(reading: Reading) -> list[Memory]:
    """What may answer: the current message first, then changes of the profile, facts, and older words."""
    updates = [memory for memory in reading.memories if memory.id == "profile"]
    newest = sorted(reading.memories, key=lambda memory: memory.date, reverse=True)
    facts = [memory for memory in newest if memory.id.startswith("fact:")]
    others = [memory for memory in newest if memory not in updates and memory not in facts]
    files = [*reading.attached, *reading.attached_before]
    return [*_list_newest(reading), *files, *updates, *facts, *reading.profile, *others]


def _list_newest(reading: Reading) -> list[Memory]:
    """What was said here, and before it what the profile says since: words of a change stay the newest."""
    said = _in_context_of_before(reading, _list_statements(reading))
    known = [stems(memory.text) for memory in said]
    updates = (memory for memory in reading.memories if memory.id == "profile")
    since = [one for one in updates if not any(stems(one.text) - {"user"} <= words for words in known)]
    changes = [memory for memory in said if patterns.OF_CHANGE.search(memory.text)]
    return [*changes, *since, *(memory for memory in said if memory not in changes)]


def _in_context_of_before(reading: Reading, said: Sequence[Memory]) -> list[Memory]:
    """The messages; one about “she” or “it” below the one before, which says or asks who that is."""
    texts = [text for text, _ in reading.exchanges]
    before = dict(zip(texts[1:], texts, strict=False))
    return [
        replace(one, text=f"{before[one.text]}\n{one.text}")
        if one.text in before and PRONOUN_SUBJECT.match(LEAD_IN.sub("", one.text))
        else one
        for one in said
    ]


def _list_statements(reading: Reading) -> list[Memory]:
    """What the user said in this conversation, newest first, with what they corrected right after."""
    said: list[str] = []
    texts = (text for text, _ in reading.exchanges)
    for text in (text for text in texts if not _is_question(text) or ("?" in text and sentences(text))):
        place, words = _mended(said, text)
        said[place : place + 1] = [words]
    return [Memory(text, "said") for text in reversed(said)]


def _mended(said: Sequence[str], text: str) -> tuple[int, str]:
    """Which of the texts `text` corrects, and how that reads then; a new one, if it corrects none or not clearly one.

    What it denies (“not Oslo”) may be further back; else it means the text right before.
    """
    if contrast := find_contrast(text):
        denied = re.compile(rf"\b{re.escape(contrast['old'])}(?=(?:st|nd|rd|th)?\b)|{re.escape(CHANGED)}")
        is_last_of_list = text[: contrast.start("new")].endswith(" and ")
        for place in reversed(range(len(said))):
            if denied.search(said[place]):
                whole = patterns.OPENS_CORRECTION.sub("", without_contrast(text))
                return place, whole if is_last_of_list else denied.sub(contrast["new"], said[place])
    found = patterns.CORRECTS.match(text)
    if found and not text.isupper():  # where all words are capitals, none of them tells a name
        named = patterns.NOT_OLD.search(found["rest"])
        form = patterns.NUMBERED if found["new"][0].isdigit() else patterns.NAMED
        for place in reversed(range(0 if named else max(0, len(said) - 1), len(said))):
            alike = [named["old"]] if named else form.findall(said[place])
            old = re.compile(rf"\b{re.escape(alike[0])}(?!\w)") if len(alike) == 1 else None
            if old and old.search(said[place]) and alike[0] != found["new"]:
                return place, old.sub(lambda _: found["new"], said[place])
    return len(said), text


def _is_question(text: str) -> bool:
    if patterns.ALSO_ASKED.match(text):
        return True
    text = patterns.HOW_TO_ANSWER.sub("", LEAD_IN.sub("", text.strip()))
    return bool(text.endswith("?") or patterns.QUESTION.match(text) or patterns.REQUEST.match(text))


def _extract_question(reading: Reading) -> str:
    """The question in a longer text, without the words that ask for it to be answered."""
    return patterns.TASK.sub("", _last_question(reading))


def _last_question(reading: Reading) -> str:
    """The last sentence with a question mark, else the whole text."""
    asked = [part for part in re.split(r"(?<=[.!?\n])", reading.question) if part.endswith("?")]
    return (asked[-1] if asked else reading.question).strip()


def _answer_marked(reading: Reading) -> Reply | None:
    """What Recall marks as the answer, unless this conversation says it newer."""
    asked = _extract_question(reading)
    past = asks_past(asked)
    marked, followed = _list_marked(reading, past)
    if SEVERAL_ASKED.search(asked):  # one of them is no answer
        marked = [memory for memory in marked if memory.answers != LIKELY]
    is_part = asked != reading.question.strip()  # the search was for all of it, the question may be of something else
    if is_part or closest(asked, _list_statements(reading)):
        marked = [memory for memory in marked if memory.answers != LIKELY or stems(asked) & stems(memory.text)]
    marked, also = _without_less_likely(marked)
    is_said = any(match.memory.id == "said" for match in best_matches(asked, _list_newest(reading)))
    if not marked or (is_said and not (past and any(not one.is_current for one in marked))):
        return None
    if named := BEFORE.search(asked):
        marked = _of_before(reading, marked, (named[1] or named[2]).lower())
    best = [memory for memory in marked if memory.is_current != past]
    if past and not best and not any(one.qualifier == CORRECTED or one.answers == LIKELY for one in marked):
        were = _of_the_past(reading.memories)
        near = closest(asked, were)
        over = best_matches(asked, were) or ([near] if near else [])
        if over:
            return _answer_from(reading, over)
    best = best or marked
    if not best:
        return None
    wanted = stems(asked)
    if best[0].answers != LIKELY:
        wanted |= stems(best[0].answers.replace(":", " ").replace("_", " "))
    matches = [Match(said, memory) for memory in best for said in _answering(memory, wanted, asked)]
    if not past and (ended := _ended_here(reading, matches)):
        return _answer_from(reading, ended)
    is_quoted = not matches and bool(_as_written(asked, best[0]))
    better = None if is_quoted else _better(reading, matches)
    reply = _answered_by(reading, best[0], [better] if better else matches)
    return _with_followed(_with_also(reply, also), followed, asked) if reply and not better else reply


def _without_less_likely(marked: Sequence[Memory]) -> tuple[list[Memory], list[Memory]]:
    """What is marked, with one likely message at most; and the messages that are nearly as likely."""
    likely = [one for one in marked if one.answers == LIKELY]
    also = [one for one in likely[1:] if one.id.startswith("message:")]
    return [one for one in marked if one not in also], also


def _with_also(reply: Reply, also: Iterable[Memory]) -> Reply:
    """The answer, and the messages that are nearly as likely to be it."""
    first, *others = reply.blocks
    if not isinstance(first, Text):
        return reply
    words = (_short(" ".join(_written(one).split()), MAX_QUOTED) for one in also)
    said = (wording.ALSO.format(words=one) for one in words if one not in first.text)
    return Reply((Text("\n\n".join((first.text, *said))), *others))


def _of_before(reading: Reading, marked: Sequence[Memory], after: str) -> list[Memory]:
    """What could answer “Where did we live before Lyon?”, which Lyon doesn't; else a message that names both."""
    could = (one for one in reading.memories if one.is_own and (one.is_current or _has_ended(one)))
    others = (replace(one, answers=LIKELY) for one in could if one.answers != FOLLOWED)
    both = [one for one in marked if one.answers == LIKELY and not _is_one_statement(one)]
    told = (one for one in both if SAYS_BEFORE.search(one.text))  # “I'm an instructor. Before this I was a welder.”
    earlier = (memory for memory in (*marked, *others) if after not in memory.text.lower())
    return [*told, *earlier, *both][:1]


def _list_marked(reading: Reading, past: bool) -> tuple[list[Memory], list[Memory]]:
    """What Recall marks as the answer, as the user corrected it; and what followed it."""
    found = (memory for result in reading.results for memory in result.memories)
    marked = [one for one in (*reading.memories, *found) if one.answers not in UNMARKED]
    followed = [memory for memory in marked if memory.answers == FOLLOWED]
    marked = [_corrected(memory, followed) for memory in marked if memory not in followed]
    return [one for one in marked if _may_answer(one, past=past)], followed


def _may_answer(memory: Memory, *, past: bool) -> bool:
    """Whether a marked memory may answer: what may have changed, or isn't clearly stated, if most likely it answers."""
    is_unsure = memory.qualifier.endswith(NOT_STATED) or memory.qualifier.startswith(PERHAPS_CHANGED)
    is_fit = past or memory.is_current or (is_unsure and memory.answers == LIKELY)
    return is_fit and not memory.text.startswith(DOUBT)


def _corrected(memory: Memory, followed: Iterable[Memory]) -> Memory:
    """The memory with what the user corrected of it."""
    for later in followed:
        place, text = _mended([memory.text], _written(later))
        if place == 0:
            qualifier = memory.qualifier if memory.is_waiting else CORRECTED
            memory = replace(memory, text=text, qualifier=qualifier)
    return memory


def _with_followed(reply: Reply, followed: Sequence[Memory], asked: str) -> Reply:
    """The answer, and what the user wrote after the message that it is from, or what was learned of it since."""
    first, *others = reply.blocks
    if not isinstance(first, Text):
        return reply
    messages = [one for one in followed if not one.id.startswith("fact:")]
    said = "\n".join(filter(None, (_of_the_asked(one, asked) for one in messages)))
    words = re.sub(r"(?<=\w)\n", ". ", said).replace("\n", " ")
    written = wording.WENT_ON.format(words=_short(words, MAX_QUOTED)) if words else ""
    learned = (second_person(one.text) for one in followed if one not in messages and _of_the_asked(one, asked))
    since = (wording.SINCE_THEN.format(known=_lower(one)) for one in learned if one not in first.text)
    return Reply((Text("\n\n".join(filter(None, (first.text, written, *since)))), *others))


def _share(said: Iterable[str], words: frozenset[str]) -> bool:
    return any(words & stems(one) for one in said)


def _of_the_asked(memory: Memory, asked: str) -> str:
    """A message as it was written; empty: what it has of the question is about someone else."""
    written, wanted = _written(memory), stems(asked)
    said = sentences(written)
    others = [one for one in said if is_about_another(asked, one, wanted, stems(one))]
    about = [one for one in said if one not in others]
    asks_of_user = ONE_SUBJECT.search(asked) is not None
    is_shared_by_others = asks_of_user and _share(others, wanted) and not _share(about, wanted)
    # “they're married since 1975” may be of those asked for
    is_unnamed = not asks_of_user and any(map(PRONOUN_SUBJECT.match, said))
    if is_shared_by_others or (others and not _share(about, wanted) and not is_unnamed):
        return ""
    return without_contrast(" ".join(written.split())) if said else ""


def _answered_by(reading: Reading, memory: Memory, matches: Sequence[Match]) -> Reply | None:
    """The sentences that answer; of a message that most likely does, all of it: which part answers isn't known."""
    is_message = memory.answers == LIKELY and memory.is_own and memory.id.startswith("message:")
    if is_message and all(one.memory == memory for one in matches) and not _is_one_statement(memory):
        return _quoted(reading, memory)
    reply = _answer_from(reading, list(matches)) if matches else None
    on_it = ON_LIST.match(_extract_question(reading)) if memory.answers.startswith(OF_A_LIST) else None
    if reply is None or on_it is None:
        return reply
    return _opened(reply, wording.IS_SO if stems(on_it["thing"]) <= stems(memory.text) else wording.IS_NOT_SO)


def _is_one_statement(memory: Memory) -> bool:
    return len(sentences(_written(memory))) == 1 == len(SENTENCE.findall(_written(memory)))


def _written(memory: Memory) -> str:
    """A message as it was written, without what waits, which is the last line."""
    return memory.text.rpartition("\n")[0] if memory.is_waiting else memory.text


def _quoted(reading: Reading, memory: Memory) -> Reply | None:
    """The message that answers, as it was written; None: it can't answer."""
    words = _as_written(_extract_question(reading), memory)
    words = words if asks_past(reading.question) else without_contrast(words)
    form = wording.CORRECTED_WORDS if memory.qualifier == CORRECTED else wording.OWN_WORDS
    return say(form.format(words=words), _source(reading, memory)) if words else None


def _quote_likely(reading: Reading) -> Reply | None:
    """The message that Recall marks as the likely answer, where nothing else answers; None: there is none.

    Of a question for several, one that names them all: “the rabbits, they're Knedlik and Pepa”.
    """
    asked = _extract_question(reading)
    marked, followed = _list_marked(reading, asks_past(asked))
    likely = [one for one in marked if one.answers == LIKELY and one.is_own and one.id.startswith("message:")]
    several = SEVERAL_ASKED.search(asked)
    group = ((several["group"] or several[0]) if several else "").lower()
    reply = next(filter(None, (_quoted(reading, one) for one in likely if group in one.text.lower())), None)
    return _with_followed(reply, followed, asked) if reply else None


def _as_written(asked: str, memory: Memory) -> str:
    """A message as it was written; empty: it states nothing, or only of others by their relation.

    Marked as the answer, a request that says “my” or “the sign: closed on Mondays” states something, too.
    """
    written, wanted = _written(memory), stems(asked)
    said = sentences(written) or (REQUEST_STATES.findall(QUOTED.sub(" ", written)) if memory.answers else [])
    asks_of_user = ONE_SUBJECT.search(asked) is not None  # “How old am I?”, and a heroine: “She is 52”
    of_someone = (one for one in said if OF_SOMEONE.match(one) or (asks_of_user and OF_SOMEONE_UNNAMED.match(one)))
    others = [one for one in of_someone if is_about_another(asked, one, wanted, stems(one))]
    return "" if len(others) == len(said) else _short(" ".join(written.split()), MAX_QUOTED)


def _of_the_past(memories: Iterable[Memory]) -> list[Memory]:
    """What is over, and the statements of what was so: “I used to live in Hanoi”."""
    memories = list(memories)
    said = (replace(one, text=text) for one in memories for text in sentences(one.text) if OVER.search(text))
    return [one for one in memories if not one.is_current] or list(said)


def _over(reading: Reading) -> Reply | None:
    """What has ended, for a question about now, where only that has all of the question's words: “Am I in a band?”; or
    where Recall marks nothing else: “Do I still own a Yaris?”."""
    asked = _extract_question(reading)
    found = [memory for memory in reading.memories if memory.answers not in (*UNMARKED, FOLLOWED)]
    if found and all(map(_has_ended, found)) and patterns.STILL.search(asked) and not is_wh_question(asked):
        said = sentences(found[0].text) or [found[0].text]
        reply = _opened(_answer_from(reading, [Match(said[0], found[0])]), wording.NOT_ANY_MORE)
        after = (one for one in reading.memories if one.answers == FOLLOWED and one.is_current)
        return _with_followed(reply, [one for one in after if stems(asked) & stems(one.text)], asked)
    words = stems(asked)
    marked = (memory for memory in reading.memories if memory.answers and memory.is_current)
    if asks_past(asked) or not words or any(words & stems(memory.text) for memory in marked):
        return None
    known = [
        Match(sentence, memory) for memory in _known(reading) for sentence in sentences(memory.text) or [memory.text]
    ]
    fitting = [match for match in known if words <= stems(match.sentence)]
    ended = [match for match in fitting if _has_ended(match.memory)]
    if not ended or len(ended) < len(fitting):
        return None
    reply = _answer_from(reading, ended[:1])
    return reply if is_wh_question(asked) else _opened(reply, wording.NOT_ANY_MORE)


def _opened(reply: Reply, said: str) -> Reply:
    """The same answer to a question whether something is so, which it says first."""
    first, *others = reply.blocks
    return Reply((Text(f"{said} {first.text}"), *others)) if isinstance(first, Text) else reply


def _ended_here(reading: Reading, matches: Sequence[Match]) -> list[Match]:
    """What this conversation says to have ended of what would be the answer, and what the same message says next."""
    question = _extract_question(reading)
    answered = frozenset[str]().union(*(stems(match.sentence) for match in matches)) - {"user"} - stems(question)
    answered |= stems(question) if patterns.STILL.search(question) else frozenset()
    heard = {match.memory.text for match in matches if match.memory.id == "said"}
    since = takewhile(lambda memory: not any(memory.text in text for text in heard), _list_statements(reading))
    said = (Match(sentence, memory) for memory in since for sentence in sentences(memory.text))
    ended = (match for match in said if ENDS.search(match.sentence) and answered & stems(match.sentence))
    first = next((m for m in ended if _is_of_user(m.sentence, question) or _names(m.sentence, answered)), None)
    if first is None:
        return []
    whole = sentences(first.memory.text)
    return [Match(sentence, first.memory) for sentence in whole[whole.index(first.sentence) :][:2]]


def _names(sentence: str, answered: frozenset[str]) -> bool:
    """Whether a sentence has for a subject a name that is in what would be the answer: “Pus died yesterday”."""
    named = NAMED.match(sentence)
    return named is not None and stems(named[1]) <= answered


def _is_of_user(sentence: str, asked: str) -> bool:
    """Whether a sentence is about the user, or what is theirs and asked about: “quit bouldering”, “my parrot died”."""
    owned = OWNED.match(sentence)
    is_asked = owned is not None and stems(owned[1]) <= stems(asked)
    return bool(is_asked or patterns.BY_USER.search(sentence) or ENDS.match(sentence))


def _better(reading: Reading, matches: Sequence[Match]) -> Match | None:
    """A sentence that answers better than those of the memory that Recall marks."""
    asked, known = _extract_question(reading), _known(reading)
    newest = newest_mention(asked, reading.memories) if patterns.STILL.search(asked) else None
    is_newer = newest and all(newest.memory.date > match.memory.date for match in matches)
    if (
        newest
        and is_newer
        and not (matches and patterns.BY_USER.search(asked) and not _is_of_user(newest.sentence, asked))
    ):
        return newest
    if not any(has_answer_kind(asked, match.sentence) and says_more(asked, match.sentence) for match in matches):
        return best_of_kind(asked, known)
    return None


def _answering(memory: Memory, wanted: frozenset[str], asked: str) -> list[str]:
    """The sentences of a memory that answer: what waits for what is asked for, else the one nearest to what is
    wanted."""
    is_likely = memory.answers == LIKELY
    waiting = sentences(memory.text.splitlines()[-1]) if memory.is_waiting and not is_likely else []  # the last line
    if waiting and not waiting[0].startswith(NO_ANSWER) and has_answer_kind(asked, waiting[0]):
        return waiting
    said = [one for one in sentences(memory.text) if not one.startswith(NO_ANSWER)]
    if is_likely and memory.id.startswith("fact:") and len(said) > 1:
        said = [memory.text]
    if is_likely:  # what is alike may be of someone else: “What am I allergic to?” and a brother
        asked_stems = stems(asked)
        said = [one for one in said if not is_about_another(asked, one, asked_stems, stems(one))]
    return said and [
        max(said, key=lambda one: (has_answer_kind(asked, one), len(stems(one) & wanted), one in waiting, len(one)))
    ]


def _best_answer(reading: Reading, known: Sequence[Memory]) -> Reply | None:
    """An answer to the question; else the fact that comes close."""
    asked = _extract_question(reading)
    if patterns.PRONOUN.search(asked) and reading.exchanges:  # "And where does she work?"
        people = patterns.PEOPLE.findall(" ".join(reading.exchanges[-1]).replace(wording.INTRODUCTION, ""))
        asked = f"{asked} {' '.join(relation or name for relation, name in people)}"
    if not stems(asked) and reading.exchanges:  # “What was it about?” asks for more of the same
        asked = f"{reading.exchanges[-1][0]} {asked}"
    matches = best_matches(asked, known)
    if matches:
        ended = [] if asks_past(asked) else _ended_here(reading, matches)
        return _answer_from(reading, ended or matches)
    near = closest(asked, known) or _first_recalled(asked, reading)
    if near is None:
        return None
    if near.memory.id.startswith("message:") and near.memory.is_own and (words := _as_written(asked, near.memory)):
        return say(wording.CLOSEST_WORDS.format(words=words))
    sentence = near.sentence if asks_past(asked) else without_denied(near.sentence)
    return say(wording.CLOSEST.format(known=_lower(_short(second_person(_near_parts(asked, sentence))))))


def _near_parts(asked: str, sentence: str) -> str:
    """Of a sentence too long to be shown, the parts that have a word of the question."""
    if len(sentence) <= MAX_SAID:
        return sentence
    return ", ".join(part for part in PARTS.split(sentence) if stems(asked) & stems(part)) or sentence


def _nearest(reading: Reading) -> Reply | None:
    """The message that Recall found to fit best, if enough of it states something, for a question about the user or
    someone it names; or the only one that it found."""
    asked = _extract_question(reading)
    said = (one for one in reading.memories if one.id.startswith("message:"))
    first = next((one for one in said if one.is_current or one.qualifier.endswith(NOT_STATED)), None)
    if first is None or not first.is_own:
        return None
    written, names = _written(first), NAMES.findall(asked)
    is_asked = OF_ONESELF.search(asked) or (names and all(name in written for name in names))
    is_stated = len(" ".join(sentences(written))) >= STATED * len(written)
    is_shared = is_wh_question(asked) or bool((stems(asked) - whom_asked(asked) or stems(asked)) & stems(written))
    fits = is_asked and is_stated and is_shared and has_answer_kind(asked, written)
    words = _as_written(asked, first) if fits else _alone(reading)
    return say(wording.CLOSEST_WORDS.format(words=words)) if words else None


def _alone(reading: Reading) -> str:
    """The one message of the user's that Recall found for a question, as it was written; empty: none, or several, or it
    has no word of the question."""
    said = [one for one in reading.memories if one.id.startswith("message:") and one.is_own and one.is_current]
    if len(said) != 1 or said[0].qualifier.endswith(NOT_STATED) or patterns.HIDDEN.search(said[0].text):
        return ""
    shares = stems(reading.question) & stems(" ".join(sentences(_written(said[0]))))
    return _as_written(_extract_question(reading), said[0]) if shares else ""


def _undoubted(reading: Reading, found: Sequence[Memory]) -> Reply | None:
    """The part of a message that answers, where the message may have changed in another part."""
    doubted = {one.text: one for one in (*reading.memories, *found) if one.qualifier.startswith(PERHAPS_CHANGED)}
    asked = _extract_question(reading)
    matches = best_matches(asked, [replace(memory, qualifier="") for memory in doubted.values()])
    if not matches:
        return None
    memory, wanted = doubted[matches[0].memory.text], stems(asked)
    listed = matches[0].sentence.partition(": ")  # “Team: Ann = design, Lars = backend”
    part = max(PARTS.split(listed[2] or listed[0]), key=lambda one: len(stems(one) & wanted))
    if stems(part) & stems(_newer(reading, memory)):
        return None
    return _answer_from(reading, [Match(part, memory)])


def _newer(reading: Reading, memory: Memory) -> str:
    """The text of what may have changed a memory; empty: it isn't among the memories."""
    by = memory.qualifier.removeprefix(PERHAPS_CHANGED)
    return next((one.text for one in reading.memories if one.id == by), "")


def _first_recalled(asked: str, reading: Reading) -> Match | None:
    """What Recall itself found to fit best, for a question about the user in other words than the memory's, or about
    someone by name."""
    names = frozenset(NAMES.findall(asked))
    if not names and not patterns.OWN.search(asked):
        return None
    first = next((memory for memory in reading.memories if memory.is_current and memory.id != "profile"), None)
    if first is None or first.id.startswith("message:"):
        return None
    wanted = stems(asked)
    beyond = wanted - whom_asked(asked) or wanted
    said = {sentence: stems(sentence) for sentence in sentences(first.text)}
    users = [
        sentence
        for sentence in said
        if has_answer_kind(asked, sentence)
        and all(name in sentence for name in names)
        and not is_about_another(asked, sentence, wanted, said[sentence])
        and (is_wh_question(asked) or said[sentence] & beyond)  # nothing near answers “Do I have a cat?”
    ]
    return Match(max(users, key=lambda sentence: len(said[sentence] & wanted)), first) if users else None


def _answer_from(reading: Reading, matches: list[Match]) -> Reply:
    """Each thing once: what only repeats a shorter sentence is left out. Then where it is from."""
    if not asks_past(reading.question):
        matches = [replace(match, sentence=without_denied(match.sentence)) for match in matches]
    matches = [replace(one, sentence=_as_it_is(TAKES_BACK.sub("", one.sentence), one.memory)) for one in matches]
    by_sentence = {second_person(match.sentence): match for match in reversed(matches)}
    said = [
        match
        for match in reversed(by_sentence.values())
        if not any(_is_in(other, match) for other in by_sentence.values())
    ]
    answer = _others_name(reading.question, said[0]) or " ".join(
        _short(second_person(_near_parts(reading.question, match.sentence))) for match in said
    )
    sources = list(dict.fromkeys(filter(None, (_source(reading, match.memory) for match in said))))
    words = _own_words(reading, said[0]) if len(said) == 1 else ""
    hidden = wording.HIDDEN if MASKED in answer else ""
    return say(answer, *sources, wording.OWN_WORDS.format(words=words) if words else "", hidden)


def _own_words(reading: Reading, match: Match) -> str:
    """What the user wrote when they said so, if the answer leaves something of the question open; else empty."""
    question = _extract_question(reading)
    asked, fact_words = stems(question), stems(match.sentence) - {"user"}
    if asked <= fact_words and has_answer_kind(question, match.sentence) and says_more(question, match.sentence):
        return ""
    for message in _messages_behind(reading, match.memory, fact_words):
        parts = [
            one
            for one in sentences(message)
            if not _is_denial(one, question) and not is_about_another(question, one, asked, _in_context(one, message))
        ]
        said = _quotation(parts, message)
        words = stems(said)
        is_whole = not patterns.HIDDEN.search(said)
        if is_whole and words - fact_words and words & (fact_words | asked):
            return _short(said)
    return ""


def _quotation(parts: list[str], message: str) -> str:
    """Parts of a message as one quotation: a word between two, such as “and”, is kept; for more there is “…”."""
    said = parts[0] if parts else ""
    for before, part in pairwise(parts):
        between, found, _ = message.partition(before)[2].partition(part)
        is_near = found and len(re.findall(r"\w+", between)) <= 1
        said += (re.sub(r"\s+", " ", between) if is_near else " … ") + part
    return said


def _in_context(sentence: str, message: str) -> frozenset[str]:
    """The stems of a sentence; of one about “she” or “it” also those of the message, which says who that is."""
    return stems(message if PRONOUN_SUBJECT.match(sentence) else sentence)


def _is_denial(sentence: str, question: str) -> bool:
    """Whether a sentence denies something: an answer about now leaves it out."""
    main = sentence.partition(", which ")[0]
    return (is_wh_question(question) and bool(patterns.DENIES.search(main))) or without_denied(main) != main


def _messages_behind(reading: Reading, memory: Memory, fact_words: frozenset[str]) -> list[str]:
    """The message that a memory waits in; or those that have most of its words."""
    if memory.is_waiting:
        return [memory.text.rpartition("\n")[0]] if memory.is_own else []
    users = (one.text for one in reading.memories if one.is_own and one.is_current and one.id.startswith("message:"))
    return [text for text in users if fact_words and len(fact_words & stems(text)) >= SAME_WORDS * len(fact_words)]


def _others_name(question: str, match: Match) -> str:
    """Answer a question about a name, such as "Your sister's name is Mary."; empty: it isn't one, or no name is
    near."""
    asked = patterns.OTHERS_NAME.search(question)
    of = asked and (asked["of"] or asked["of2"] or asked["of3"])
    if not of or of.endswith("s"):  # several people have several names, which the sentence has
        return ""
    same = next((words for words in SAME_RELATION if of.lower() in words), (of,))
    relation = rf"\b(?:{'|'.join(map(re.escape, same))})"
    named = re.search(
        rf"{relation},?(?:'s name is| is (?:called|named)| called| named)? ({patterns.ONE_NAME})", match.sentence
    )
    whole = re.search(rf"{relation}(?:'s name is| is (?:called|named)) ({patterns.WHOLE_NAME})", match.sentence)
    name = whole or named
    return f"Your {of.lower()}'s name is {name[1]}." if name else ""


def _is_in(one: Match, other: Match) -> bool:
    """Whether the other sentence contains this one, or quotes it."""
    for part, whole in ((one.sentence, other.sentence), (second_person(one.sentence), second_person(other.sentence))):
        said, said_there = part.rstrip(".").casefold(), whole.rstrip(".").casefold()
        if said != said_there and said in said_there:
            return True
    return False


def _source(reading: Reading, memory: Memory) -> str:
    """The origin of an answer, in one line; empty: a fact without a date, or said in this conversation."""
    kind = memory.id.partition(":")[0]
    day = _day(memory.date)
    if kind in ("http", "https"):
        return f"From the web: {memory.id}"
    if kind == "attachment":
        return f"From {_file_name(memory)}."
    if memory.is_waiting:
        return wording.TO_REVIEW
    if not memory.is_current and not memory.qualifier.endswith(NOT_STATED):
        newer = _newer(reading, memory)
        if not newer and memory.qualifier.startswith(PERHAPS_CHANGED) and not asks_past(reading.question):
            return wording.PERHAPS_CHANGED
        return _ended(f"({newer})" if newer else memory.qualifier)
    if kind in ("document", "chunk") and not memory.title.startswith("/conversations"):
        return f"From your document {memory.title}." if memory.title else "From your documents."
    if kind in ("episode", "segment", "chunk"):
        return f"From our conversation on {day}." if day else "From an earlier conversation."
    return f"You said so on {day}." if day and kind in ("fact", "message") else ""


def _as_it_is(sentence: str, memory: Memory) -> str:
    """The sentence of a memory; in the past if that is over."""
    if not memory.is_current and memory.id.startswith("fact:"):
        return in_past(sentence)
    return in_past(third_person(sentence)) if memory.is_own and _has_ended(memory) else sentence


def _has_ended(memory: Memory) -> bool:
    return memory.qualifier.startswith("until")


def _ended(qualifier: str) -> str:
    """The successor of a memory that is over, or when it ended."""
    newer = re.search(r"\((.+)\)|“(.+)”", qualifier)
    if newer:
        return wording.SINCE_THEN.format(known=_lower(second_person(newer[1] or newer[2])))
    kind, _, when = qualifier.partition(" ")
    return f"That was until {_day(when) or when}." if kind == "until" else "That's no longer so."


def _day(date: str) -> str:
    """“20 November 2026”, as on every page; empty: no date."""
    try:
        when = datetime.fromisoformat(date)
    except ValueError:
        return ""
    return f"{when.day} {when:%B %Y}"


def _short(sentence: str, most: int = MAX_SAID) -> str:
    return sentence if len(sentence) <= most else f"{sentence[:most].rsplit(' ', 1)[0]} …"


def _lower(sentence: str) -> str:
    """The sentence for use after a colon: a pronoun loses its capital, a name keeps it."""
    return sentence[0].lower() + sentence[1:] if sentence.startswith("You") else sentence


def _call(reading: Reading, name: str) -> ToolCall:
    """A call with the question in every required text field, for requests that force a tool."""
    schema = reading.tools[name]["input_schema"]
    smallest = minimal_instance(schema)
    values = smallest if isinstance(smallest, dict) else {}
    kinds = schema.get("properties", {})
    texts = [key for key in values if isinstance(kinds.get(key), dict) and kinds[key].get("type") == "string"]
    return ToolCall(name, values | dict.fromkeys(texts, reading.question))
