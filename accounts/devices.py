"""What is a session's browser called? Its `User-Agent`, in words a person knows their devices by.

Such a header is what the browser says of itself: enough to tell one's own devices apart, and no proof of anything.
"""

from __future__ import annotations

from typing import Final

BROWSERS: Final = (
    # most of them also say they are one of those below
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi", "Vivaldi"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chromium", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
    ("python", "a Python program"),
)
SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Windows", "Windows"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
)


def device_of(user_agent: str) -> str:
    """Such as “Firefox on Linux”; what is not known is said so."""
    browser = _first(BROWSERS, user_agent)
    system = _first(SYSTEMS, user_agent)
    if browser and system:
        return f"{browser} on {system}"
    return browser or (f"A browser on {system}" if system else "A browser that does not say which")


def _first(table: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for sign, name in table if sign.casefold() in user_agent.casefold()), "")
