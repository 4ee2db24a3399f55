"""The demo's answers: a short list of rules over the memories in the request. No language model.

`RULES` is the decision: the first rule that returns a reply answers. Only the user's own last text is obeyed; recalled
memories, profile lines and tool results are data to answer from, whatever they say.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace

from offline.protocol.reply import Reply, Search, Text, Thinking, ToolCall
from offline.protocol.schema import minimal_instance
from offline.responder.matching import Match, best_matches, sentences
from offline.responder.request_facts import Memory, Reading
from offline.responder.wording import about_user, to_user
from offline.search import demo_page

type Rule = Callable[[Reading], Reply | None]

SELF = "I am Recall's offline demo responder: a few rules, not a language model."
CONNECT = (
    "To talk to a real model, set `ANTHROPIC_API_KEY` (or `ANTHROPIC_BASE_URL` for any server that speaks the "
    "Messages API) and start Recall again."
)
ABILITY = "I can only answer from what you told Recall."
LATER = (
    "I have not stored it: the librarian reads what is said in a conversation that is kept, and proposes what to "
    "remember."
)
"""True in a temporary chat, too, which a request does not tell from others."""
SAMPLE = """Here is a sample of what an answer may look like.

## A list

- **bold** and *italic* words
- `inline code` and a [link](https://example.org/)

## A table

| memory | kind |
|---|---|
| Your sister lives in Lisbon | person |
| No peanuts | constraint |

## Some code

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"
```"""

CONTINUE = re.compile(r"^\W*(?:please )?(?:continue|go on|carry on|keep going)\b.{0,80}$", re.IGNORECASE | re.DOTALL)
REMEMBER = re.compile(
    r"^\W*(?:please )?(?:remember|note|don't forget)(?: that| this)?\b[:,]?\s+(.+)$", re.I | re.DOTALL
)
SHOWCASE = re.compile(r"\b(?:markdown|code)\b", re.IGNORECASE)
SHOWING = re.compile(r"\b(?:demo|sample|show|example|test)\b", re.IGNORECASE)
CLOCK = {
    "Current time": re.compile(r"\b(?:what(?:'s| is) the time(?! of)|time is it)\b", re.IGNORECASE),
    "Current date": re.compile(
        r"\b(?:what(?:'s| is) (?:the |today's )date(?! of)|(?:day|date) is (?:it|today))\b", re.I
    ),
}
NAME = re.compile(r"\b(?:what(?:'s| is) my name|who am i|my name\?)", re.IGNORECASE)
IDENTITY = re.compile(r"\b(?:who|what) are you\b|\bare you (?:a|an|the|real|claude|chatgpt)\b", re.IGNORECASE)
OVERVIEW = re.compile(r"\bwhat (?:do|did|can) you (?:know|remember|recall)\b(?:.*\b(?:about me|of me)\b)?\W*$", re.I)
GREETING = re.compile(r"^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening))(?: there| again| recall)?\W*$", re.I)
TASK = re.compile(
    r"^\W*(?:please )?(?:(?:can|could|would) you )?(?:please )?(?:write|explain|describe|summari[sz]e|translate|"
    r"compose|draft|generate|create|list|calculate|compute|solve|code|implement|plan|suggest|give|make|compare)\b",
    re.IGNORECASE,
)
QUESTION = re.compile(
    r"^\W*(?:who|whom|whose|what|where|when|which|how|why|do(?! not)|does|did|is|are|am|was|were|can|could|will|would|"
    r"should|have|has)\b.*[^.!]$",
    re.IGNORECASE | re.DOTALL,
)
REQUEST = re.compile(r"^\W*(?:please )?(?:tell me|remind me|do you (?:know|remember))\b", re.IGNORECASE)
# What asks for something newer than any memory; a question about the user's own life never does.
RECENT = re.compile(
    r"\b(?:latest|newest|most recent|news|current(?:ly)?|right now|these days|weather|forecast|stock price|"
    r"exchange rate|just released|who won|search the web|look (?:it|this|that) up online)\b",
    re.IGNORECASE,
)
OWN = re.compile(r"\b(?:my|mine|our|(?:did|do|have|am|was|were) (?:i|we)|(?:i|we) \w+(?:ed|id|ld))\b", re.IGNORECASE)
# How a memory is named, by the kind in its id.
ORIGINS = {
    "episode": "From an earlier conversation",
    "segment": "From an earlier conversation",
    "document": "From your documents",
    "chunk": "From your documents",
    "http": "From the web",
    "https": "From the web",
}
REPORTED = ("remember", "update_task")  # what these answer is said to the user as it is
MOST_LISTED = 8
MOST_QUOTED = 160


def respond(reading: Reading) -> Reply:
    """Answer a request; thinking comes first and says what was really done."""
    if reading.forced and not reading.results:
        return Reply((_call(reading, reading.forced),))
    for rule in RULES:
        reply = rule(reading)
        if reply is not None:
            return Reply((_account(reading, rule), *reply.blocks))
    raise AssertionError("the last rule answers everything")


def structured(schema: dict[str, object]) -> Reply:
    """The unscripted answer to a request for structured output: valid and empty."""
    return Reply((Text(json.dumps(minimal_instance(schema))),))


def say(*paragraphs: str) -> Reply:
    return Reply((Text("\n\n".join(paragraphs)),))


def _account(reading: Reading, rule: Rule) -> Thinking:
    name = rule.__name__.strip("_").replace("_", " ")
    return Thinking(
        f"Rules, no reasoning: read {len(reading.memories)} recalled memories, {len(reading.profile)} profile lines "
        f"and {len(reading.exchanges)} earlier turns; the rule that applied is “{name}”."
    )


def _continue(reading: Reading) -> Reply | None:
    """Continue where the answer stopped: work it out again and leave out what was already said."""
    if not CONTINUE.match(reading.question) or not reading.exchanges:
        return None
    earlier = list(reading.exchanges)
    said = ""
    while earlier:
        question, answer = earlier.pop()
        said = f"{answer.rstrip()}{said}"
        if not CONTINUE.match(question) or not earlier:
            break
    reply = respond(replace(reading, question=question, exchanges=tuple(earlier), forced=None))
    if any(isinstance(block, ToolCall) for block in reply.blocks):
        return reply
    rest = _rest("".join(block.text for block in reply.blocks if isinstance(block, Text)), said)
    return say(rest or f"There is nothing to add to that answer. {SELF}")


def _rest(full: str, said: str) -> str | None:
    """What follows `said` in `full`; None when `full` does not start with it. White space does not count."""
    at = 0
    for sign in re.sub(r"\s", "", said):
        while at < len(full) and full[at].isspace():
            at += 1
        if at == len(full) or full[at] != sign:
            return None
        at += 1
    return full[at:].strip() or None


def _tool_answered(reading: Reading) -> Reply | None:
    """After a tool's result: report what it says of itself, or answer from what the search found."""
    if not reading.results:
        return None
    last = reading.results[-1]
    told = " ".join(memory.text for memory in last.memories)
    if last.failed:
        return say(f"The tool `{last.name}` failed: {told or 'it gave no reason'}")
    if last.name in REPORTED:
        return say(f"The tool `{last.name}` answered: “{told or 'nothing'}”")
    found = [memory for result in reading.results for memory in result.memories if not result.failed]
    matches = best_matches(_asked(reading.question), found)
    return _answer_from(matches) if matches else say(_unknown(searched=True))


def _remember(reading: Reading) -> Reply | None:
    wanted = REMEMBER.match(reading.question)
    if wanted is None or _is_question(reading.question):
        return None
    if "remember" in reading.tools:
        return Reply((ToolCall("remember", {"statement": about_user(wanted[1])}),))
    return say(f"I have no tool to remember things with here. {LATER}")


def _showcase(reading: Reading) -> Reply | None:
    wanted = SHOWCASE.search(reading.question) and SHOWING.search(reading.question)
    return say(SAMPLE, SELF) if wanted else None


def _clock(reading: Reading) -> Reply | None:
    names = [name for name, pattern in CLOCK.items() if pattern.search(reading.question)]
    lines = [f"The {name.lower()} is {reading.clock[name]}." for name in names if name in reading.clock]
    return say(" ".join(lines)) if lines else None


def _name(reading: Reading) -> Reply | None:
    known = reading.clock.get("User name")
    return say(f"Your name is {known}.") if known and NAME.search(reading.question) else None


def _identity(reading: Reading) -> Reply | None:
    return say(f"{SELF} {ABILITY}", CONNECT) if IDENTITY.search(reading.question) else None


def _overview(reading: Reading) -> Reply | None:
    if not OVERVIEW.search(reading.question):
        return None
    given = (*reading.profile, *reading.memories)
    statements = [sentence for memory in given for sentence in sentences(memory.text)]
    known = [to_user(statement) for statement in statements if " " in statement]  # one word is a heading
    if not known:
        return None
    lines = list(dict.fromkeys(known))
    more = [f"… and {len(lines) - MOST_LISTED} more."] if len(lines) > MOST_LISTED else []
    return say("This is what I was given about you:", "\n".join(f"- {line}" for line in lines[:MOST_LISTED]), *more)


def _web(reading: Reading) -> Reply | None:
    """A question about what is new: search the web with the tool that is offered, ours or the provider's."""
    if not RECENT.search(reading.question) or OWN.search(reading.question):
        return None
    asked = _asked(reading.question)
    if "web_search" in reading.tools:
        return Reply((ToolCall("web_search", {"query": asked}),))
    if not reading.server_search:
        return None
    page = demo_page(asked)
    shown = {"title": page["title"], "url": page["url"]}
    found = _answer_from([Match(page["content"], Memory(page["content"], page["url"]))])
    return Reply((Search(asked, (shown,)), *found.blocks))


def _recall(reading: Reading) -> Reply | None:
    """A question: answer from what was recalled, else from what was said earlier, else search, else say so."""
    task = TASK.match(reading.question)
    if not task and not _is_question(reading.question):
        return None
    asked = TASK.sub("", _asked(reading.question))
    said = [Memory(text, "said") for text, _ in reading.exchanges]
    for known in ([*reading.memories, *reading.profile], said):
        matches = best_matches(asked, known)
        if matches:
            return _answer_from(matches)
    if task:
        return say(f"{SELF} I cannot do that. {ABILITY}", CONNECT)
    if "search_knowledge" in reading.tools:
        return Reply((ToolCall("search_knowledge", {"query": asked}),))
    return say(_unknown(searched=False), CONNECT)


def _greeting(reading: Reading) -> Reply | None:
    if not GREETING.match(reading.question):
        return None
    name = reading.clock.get("User name")
    return say(f"Hello{f', {name}' if name else ''}! {SELF}", f"{ABILITY} Tell me something, then ask me about it.")


def _acknowledge(reading: Reading) -> Reply:
    return say(f"I have read that. {LATER}", SELF)


RULES: tuple[Rule, ...] = (
    _continue,
    _tool_answered,
    _remember,
    _showcase,
    _clock,
    _name,
    _identity,
    _overview,
    _web,
    _recall,
    _greeting,
    _acknowledge,
)


def _is_question(text: str) -> bool:
    return bool(text.rstrip().endswith("?") or QUESTION.match(text.rstrip()) or REQUEST.match(text))


def _asked(text: str) -> str:
    """The question in a longer text: its last sentence with a question mark, else all of it."""
    asked = re.findall(r"[^.!?\n]*\?", text)
    return asked[-1].strip() if asked else text.strip()


def _answer_from(matches: list[Match]) -> Reply:
    """Each thing once: what only repeats a shorter sentence, and its memory, are left out."""
    told = {to_user(match.sentence): match for match in reversed(matches)}
    said = [match for match in reversed(told.values()) if not any(_is_in(other, match) for other in told.values())]
    first: dict[Memory, Match] = {}
    for match in said:
        first.setdefault(match.memory, match)
    sources = [_source(match) for match in first.values()]
    answer = " ".join(to_user(match.sentence) for match in said)
    return say(answer, sources[0] if len(sources) == 1 else "\n".join(f"- {one}" for one in sources))


def _is_in(one: Match, other: Match) -> bool:
    """Whether the other sentence says this one, too, or quotes it."""
    for part, whole in ((one.sentence, other.sentence), (to_user(one.sentence), to_user(other.sentence))):
        said, said_there = part.rstrip(".").casefold(), whole.rstrip(".").casefold()
        if said != said_there and said in said_there:
            return True
    return False


def _source(match: Match) -> str:
    """Its source: the memory in its own words, or of a long one the sentence that answers."""
    memory = match.memory
    origin = ORIGINS.get(memory.id.partition(":")[0], "From what you told me")
    details = ", ".join(filter(None, (memory.id if ":" in memory.id else "", memory.date)))
    whole = " ".join(memory.text.split())
    quoted = whole if len(whole) <= MOST_QUOTED else match.sentence
    short = quoted if len(quoted) <= MOST_QUOTED else f"{quoted[:MOST_QUOTED].rsplit(' ', 1)[0]} …"
    return f"{origin}: “{short}”{f' ({details})' if details else ''}"


def _unknown(*, searched: bool) -> str:
    where = "I searched your knowledge base and found nothing that answers this" if searched else "I do not know"
    return f"{where}. {SELF} {ABILITY}"


def _call(reading: Reading, name: str) -> ToolCall:
    """A call with the question in every required text field, for requests that force a tool."""
    schema = reading.tools[name]["input_schema"]
    smallest = minimal_instance(schema)
    values = smallest if isinstance(smallest, dict) else {}
    kinds = schema.get("properties", {})
    texts = [key for key in values if isinstance(kinds.get(key), dict) and kinds[key].get("type") == "string"]
    return ToolCall(name, values | dict.fromkeys(texts, reading.question))
