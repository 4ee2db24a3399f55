"""The model's tools: which are offered, how a call is run, and the line that replaces it in history.

The definitions are static, sorted by name and the same for everyone, because they are the first bytes of the cached
prompt. Whatever a tool returns is untrusted data.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from django.conf import settings
from django.core.exceptions import ValidationError

from chat.tools.read_document import READ_DOCUMENT
from chat.tools.remember import REMEMBER
from chat.tools.search_conversation import SEARCH_CONVERSATION
from chat.tools.search_knowledge import SEARCH_KNOWLEDGE
from chat.tools.search_providers import SERVER_TOOL
from chat.tools.tool import DEFAULT_CALL_LIMIT, Tool, ToolInputError
from chat.tools.update_task import UPDATE_TASK
from chat.tools.web_search import WEB_SEARCH, store_provider_search
from chat.turn import AcceptedTurn, ToolUse
from recall.llm.client import Capabilities
from recall.text import model_json

if TYPE_CHECKING:  # the SDK takes 1.5 s to load; pages and commands start without it
    from anthropic.types import ToolParam, WebSearchTool20250305Param

type Definition = ToolParam | WebSearchTool20250305Param

ALWAYS: Final = (READ_DOCUMENT, REMEMBER, SEARCH_CONVERSATION, SEARCH_KNOWLEDGE, UPDATE_TASK)
"""Tools that every installation has."""
TOOLS_BY_NAME: Final[dict[str, Tool]] = {tool.name: tool for tool in (*ALWAYS, WEB_SEARCH)}
SEARCHES: Final[dict[str, tuple[Definition, ...]]] = {
    "off": (),
    "searxng": (WEB_SEARCH.definition,),
    "provider": (SERVER_TOOL,),
}
"""Tools that WEB_SEARCH adds. Set per installation, never per user or turn: `chat/tools/search_providers.py: OFFER`."""
SHORT_DESCRIPTIONS: Final = {
    "remember": "Propose one fact: “The user …”.",
    "search_conversation": "Search what was said.",
    "search_knowledge": "Search facts and documents.",
    "web_search": "Search the web. Put nothing private in it.",
}
"""For plans with only 1,000 tokens in the system section (`chat/prompt/system_prompt.py: FULL_NEEDS`)."""
NAME_CHARS: Final = 80
"""A model may invent a name of any length; only this much of it is repeated."""


def build_tools(web_search: str) -> list[Definition]:
    """The definitions as every request carries them, sorted by name."""
    definitions: list[Definition] = [tool.definition for tool in ALWAYS]
    return sorted((*definitions, *SEARCHES[web_search]), key=lambda definition: definition["name"])


TOOLS: Final = build_tools(settings.ENVIRONMENT.web_search)


def tools_for(
    capabilities: Capabilities, only: Sequence[Definition] | None = None, *, short: bool = False
) -> list[Definition]:
    """`TOOLS`, or `only` these, without the one that the model's server would have to run but can't."""
    tools = TOOLS if only is None else only
    return [
        tool for tool in (shorten_tools(tools) if short else tools) if capabilities.web_search or tool != SERVER_TOOL
    ]


def shorten_tools(tools: Sequence[Definition]) -> list[Definition]:
    """The tools that have a short description, with only their required inputs."""
    return [_shorten(tool) for tool in tools if tool["name"] in SHORT_DESCRIPTIONS]


def _shorten(tool: Definition) -> Definition:
    schema: Any = tool.get("input_schema")
    if schema is None:  # the provider's own tool
        return tool
    properties = {name: {"type": schema["properties"][name]["type"]} for name in schema["required"]}
    return {
        "name": tool["name"],
        "description": SHORT_DESCRIPTIONS[tool["name"]],
        "input_schema": {"type": "object", "properties": properties, "required": schema["required"]},
    }


def call_limit(name: str) -> int:
    """How often a tool may be called in one turn."""
    return TOOLS_BY_NAME[name].limit if name in TOOLS_BY_NAME else DEFAULT_CALL_LIMIT


def run_tool(turn: AcceptedTurn, call: ToolUse) -> None:
    """Fill in the result of `call`; an error in its input is also a result, not a failure of the turn.

    A call that already has its result was run by the provider: it is only stored.
    """
    call.kept_at = store_provider_search(turn, call) if call.result else _run(turn, call)


def _run(turn: AcceptedTurn, call: ToolUse) -> str:
    """Run the tool; return where its whole result is stored, if it says so."""
    try:
        tool = TOOLS_BY_NAME.get(call.name)
        if tool is None:
            raise ToolInputError(f"There is no tool called {call.name[:NAME_CHARS]}.")
        if turn.is_trial and tool.writes:
            raise ToolInputError("This answer is only tried beside another one: nothing is noted or proposed from it.")
        result = tool.run(turn, call.input)
    except (ToolInputError, ValidationError) as error:
        call.result, call.is_error = "; ".join(getattr(error, "messages", [str(error)])), True
        return ""
    result = turn.exclusion.hide_in(result)
    call.result = model_json(result)
    return str(result.get("kept_at", ""))


def history_line(call: ToolUse, reference: str = "") -> str:
    """The line that replaces the call once its turn is history: short, never changed, with a way to the whole result.

    `reference`: what `read_document` opens the result by, if it isn't stored elsewhere.
    """
    arguments = model_json(call.input)
    outcome = "failed" if call.is_error else f"{len(call.result)} characters of results"
    is_opened_by_path = call.is_error or call.name == READ_DOCUMENT.name
    kept_at = call.kept_at or ("" if is_opened_by_path else reference)
    line = f"[{call.name[:NAME_CHARS]} {arguments[:200]}: {outcome}{f', kept at {kept_at}' if kept_at else ''}]"
    return " ".join(line.split())  # an invented name may have many lines, and JSON allows some line breaks
