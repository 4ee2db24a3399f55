"""What the model thought before it answered, as the provider summarizes it: stored with the answer, for its user only.

No prompt, index, memory or Markdown export has it. Secrets are masked, even those that the question's own text keeps.
"""

from typing import Any, Final

from django.db.models import F, Func, JSONField, Value

from memory.secrets.secrets_filter import mask_secrets, secret_values

THINKING: Final = "thinking"
"""Its key in an answer's event data."""
MAX_CHARS: Final = 50_000
"""A local model sends all of its thinking, not a summary."""
CUT: Final = "\n\n[The rest is too long to keep.]"
REDACTED: Final = "[The provider encrypted this part.]"
"""Shown for a thinking block that only the provider can read."""


def masked_thinking(thinking: str, question: str) -> str:
    """Thinking as a finished answer stores it."""
    return mask_secrets(thinking, secret_values(question), is_own=False).strip()


def thinking_of(event_data: dict[str, Any]) -> str:
    """The stored thinking; empty: none."""
    return str(event_data.get(THINKING, ""))


def without_thinking(event_data: dict[str, Any]) -> dict[str, Any]:
    """The event data without it."""
    return {name: value for name, value in event_data.items() if name != THINKING}


def merged_event_data(**keys: Any) -> Func:
    """SQL: the stored event data with these keys."""
    given = Value(keys, JSONField())
    return Func(F("event_data"), given, template="%(expressions)s", arg_joiner=" || ", output_field=JSONField())
