"""Which key does what? One table: the page `/shortcuts` shows it, and static/js/palette.js obeys it.

A single letter acts only while nobody is typing, and can be turned off (WCAG 2.1.4): people who speak to their computer
press letters without meaning to. The choice is a cookie of the browser, as keys are a matter of the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

COOKIE: Final = "single-keys"
OFF: Final = "off"


@dataclass(frozen=True, slots=True)
class Shortcut:
    """One key and what it does."""

    keys: tuple[str, ...]
    """As they stand on the keyboard, pressed together."""
    does: str
    where: str = "Everywhere"
    address: str = ""
    """Name of the address it leads to."""
    focus: str = ""
    """Selector of what it puts the focus on, or opens; where the page has none, `address` rules."""
    is_ours: bool = True
    """Obeyed by palette.js; else another script does, and the page only tells of it."""

    @property
    def single(self) -> str:
        """The key, if one alone does it and palette.js obeys it."""
        return self.keys[0] if self.is_ours and len(self.keys) == 1 and len(self.keys[0]) == 1 else ""


SHORTCUTS: Final = (
    Shortcut(("Ctrl", "K"), "Open the palette: every command, every conversation (⌘ K on a Mac)", focus="#palette"),
    Shortcut(("?",), "Show this page", address="shortcuts"),
    Shortcut(("n",), "Begin a new conversation", address="new"),
    Shortcut(("/",), "Search all conversations", address="search_conversations", focus="#id_q"),
    Shortcut(("m",), "Write: go to the message box", "Everywhere but in the review", address="new", focus="#text"),
    Shortcut(("l",), "Go to the list of conversations", "Chat", focus="#conversation-list a"),
    Shortcut(("i",), "Show or hide the context of the answer", "Chat", focus='[data-action="toggle-context"]'),
    Shortcut(("Enter",), "Send the message", "In the message box", is_ours=False),
    Shortcut(("Shift", "Enter"), "Begin a new line", "In the message box", is_ours=False),
    Shortcut(("Esc",), "Close what is open: palette, menu, list, panel", is_ours=False),
    Shortcut(("j",), "Next proposal (k: the one before)", "Review", is_ours=False),
    Shortcut(("a",), "Accept (r: reject, e: edit, b: keep both)", "Review", is_ours=False),
    Shortcut(("x",), "Select (m: merge what is selected)", "Review", is_ours=False),
    Shortcut(("u",), "Undo the last decision", "Review", is_ours=False),
)
