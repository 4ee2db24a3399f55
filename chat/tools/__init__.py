"""Which tools does the model have, and what do they answer? Static definitions, sorted by name, the same for everyone.

Whatever a tool returns is untrusted data. A tool only reads, but for two: `remember` makes a proposal at most, and
`update_task` notes what this conversation works on. One module a family of tools; here they are put together.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.core.exceptions import ValidationError

from chat.tools import knowledge, remember, task
from chat.tools import web_search as web
from chat.tools.calls import ToolInputError, ToolResult
from chat.tools.search_providers import SERVER_TOOL
from chat.turn import AcceptedTurn, ToolUse
from recall.llm.client import Capabilities

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    from anthropic.types import ToolParam, WebSearchTool20250305Param

type Definition = ToolParam | WebSearchTool20250305Param

ALWAYS: Final[tuple[Definition, ...]] = (
    knowledge.READ_DOCUMENT,
    knowledge.SEARCH_CONVERSATION,
    knowledge.SEARCH_KNOWLEDGE,
    remember.REMEMBER,
    task.UPDATE_TASK,
)
"""Every installation has these."""
SEARCHES: Final[dict[str, tuple[Definition, ...]]] = {
    "off": (),
    "searxng": (web.WEB_SEARCH,),
    "provider": (SERVER_TOOL,),
}
"""What WEB_SEARCH adds. Set per installation, never per user or turn: `chat/tools/search_providers.py: OFFER`."""


def build_tools(web_search: str) -> list[Definition]:
    """The definitions as they stand in every request, sorted by name."""
    return sorted((*ALWAYS, *SEARCHES[web_search]), key=lambda tool: tool["name"])


TOOLS: Final = build_tools(settings.ENVIRONMENT.web_search)


def tools_for(able: Capabilities, only: Sequence[Definition] | None = None) -> list[Definition]:
    """`TOOLS`, or `only` these, but for the one that the model's server would have to run and cannot."""
    tools = TOOLS if only is None else only
    return [tool for tool in tools if able.web_search or tool != SERVER_TOOL]


TOOL_HANDLERS: Final[dict[str, Callable[[AcceptedTurn, ToolResult], ToolResult]]] = {
    "read_document": knowledge.read_document,
    "remember": remember.remember,
    "search_conversation": knowledge.search_conversation,
    "search_knowledge": knowledge.search_knowledge,
    "update_task": task.update_task,
    "web_search": web.web_search,
}
WRITING: Final = ("remember", "update_task")
"""Not for an answer that is only tried without a memory (chat/prompt/ablation.py)."""
NAME_CHARS: Final = 80
"""A model may invent a name as long as it likes; so much of it is repeated."""


def run_tool(opened: AcceptedTurn, call: ToolUse) -> None:
    """Fill in the result of `call`; what goes wrong with its input is an answer too, not a fault of the turn.

    A call that comes with its result was run by the provider: it is only written down.
    """
    call.kept_at = web.write_down(opened, call) if call.result else _answer(opened, call)


def _answer(opened: AcceptedTurn, call: ToolUse) -> str:
    """Run the tool; where its whole result is kept, if it says so."""
    try:
        if call.name not in TOOL_HANDLERS:
            raise ToolInputError(f"There is no tool called {call.name[:NAME_CHARS]}.")
        if opened.is_trial and call.name in WRITING:
            raise ToolInputError("This answer is only tried beside another one: nothing is noted or proposed from it.")
        answer = TOOL_HANDLERS[call.name](opened, call.input)
    except (ToolInputError, ValidationError) as error:
        call.result, call.is_error = "; ".join(getattr(error, "messages", [str(error)])), True
        return ""
    answer = opened.exclusion.hide_in(answer)
    call.result = json.dumps(answer, ensure_ascii=False, sort_keys=True)
    return str(answer.get("kept_at", ""))


def history_line(call: ToolUse, reference: str = "") -> str:
    """What stands for the call once its turn is history: short, never changed, and with the way to all of it.

    `reference`: by which `read_document` opens its result, where that is kept nowhere else.
    """
    asked = json.dumps(call.input, ensure_ascii=False, sort_keys=True)
    came = "failed" if call.is_error else f"{len(call.result)} characters of results"
    is_opened_by_path = call.is_error or call.name == knowledge.READ_DOCUMENT["name"]
    kept_at = call.kept_at or ("" if is_opened_by_path else reference)
    line = f"[{call.name[:NAME_CHARS]} {asked[:200]}: {came}{f', kept at {kept_at}' if kept_at else ''}]"
    return " ".join(line.split())  # a model may invent a name of many lines, and JSON lets some line breaks stand
