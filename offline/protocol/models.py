"""The models that the server offers, and what each accepts.

Figures of the provider's models as of 2026-11 (context, longest answer, cache minimum, accepted thinking types,
default effort, forced tools); `offline-demo-small` is the server's own, with a window that a test can fill.
"""

from dataclasses import dataclass
from typing import Any

EFFORTS = ("low", "medium", "high", "xhigh", "max")
EFFORTS_WITHOUT_THINKING = ("low", "medium", "high")  # with thinking off, higher ones are refused
THINKING_TYPES = ("adaptive", "between_tools", "disabled", "enabled")
RELEASE_UNKNOWN = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Model:
    """One model's limits, in tokens, and the requests it refuses."""

    id: str
    name: str
    line: str | None
    cache_minimum: int
    thinking: frozenset[str]
    default_effort: str
    forced_tools: bool
    context: int = 1_000_000
    max_output: int = 128_000
    inline_system: bool = True
    binds_thinking: bool = True  # a thinking block is refused once its prefix has changed


MODELS = {
    model.id: model
    for model in (
        Model(
            "claude-sonnet-5-5",
            "Claude Sonnet 5.5",
            "sonnet",
            cache_minimum=512,
            thinking=frozenset({"adaptive", "between_tools"}),
            default_effort="high",
            forced_tools=False,
        ),
        Model(
            "claude-haiku-5-5",
            "Claude Haiku 5.5",
            "haiku",
            cache_minimum=512,
            thinking=frozenset({"adaptive", "disabled"}),
            default_effort="medium",
            forced_tools=True,
        ),
        Model(
            "claude-opus-5-5",
            "Claude Opus 5.5",
            "opus",
            cache_minimum=512,
            thinking=frozenset({"adaptive"}),
            default_effort="medium",
            forced_tools=False,
        ),
        Model(
            "claude-sonnet-5",
            "Claude Sonnet 5",
            "sonnet",
            cache_minimum=1_024,
            thinking=frozenset({"adaptive", "disabled"}),
            default_effort="high",
            forced_tools=True,
            inline_system=False,
            binds_thinking=False,
        ),
        Model(
            "offline-demo-small",
            "Small window",
            None,
            context=8_000,
            max_output=4_000,
            cache_minimum=512,
            thinking=frozenset({"adaptive", "disabled"}),
            default_effort="medium",
            forced_tools=True,
        ),
    )
}


def model_info(model: Model) -> dict[str, Any]:
    """One model in the shape of the Models API (`anthropic.types.ModelInfo`)."""
    return {
        "type": "model",
        "id": model.id,
        "display_name": f"{model.name} (offline demo, no language model)",
        "created_at": RELEASE_UNKNOWN,
        "lifecycle": "active",
        "deprecated_at": None,
        "retires_at": None,
        "line": model.line,
        "max_input_tokens": model.context,
        "max_tokens": model.max_output,
        "capabilities": _capabilities(model),
    }


def _capabilities(model: Model) -> dict[str, Any]:
    """The capabilities this server accepts; not batches, citations, code execution and context management."""
    return {
        "batch": _supported(False),
        "citations": _supported(False),
        "code_execution": _supported(False),
        "context_management": _supported(False),
        "effort": _supported(True) | {level: _supported(True) for level in EFFORTS},
        "image_input": _supported(True),
        "pdf_input": _supported(True),
        "server_tools": _supported(True) | {"code_execution": _supported(False), "web_search": _supported(True)},
        "structured_outputs": _supported(True),
        "thinking": _supported(True) | {"types": {kind: _supported(kind in model.thinking) for kind in THINKING_TYPES}},
    }


def _supported(value: bool) -> dict[str, Any]:
    return {"supported": value}
