"""Readable device names for the session list, from the `User-Agent` header.

A browser sets that header itself: good enough to recognize your own devices, but no proof of anything.
"""

from typing import Final

BROWSERS: Final = (
    # most also claim to be one of those below
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
    """A name such as “Firefox on Linux”."""
    browser = _first(BROWSERS, user_agent)
    system = _first(SYSTEMS, user_agent)
    if browser and system:
        return f"{browser} on {system}"
    return browser or (f"Unknown browser on {system}" if system else "Unknown browser")


def _first(table: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for sign, name in table if sign.casefold() in user_agent.casefold()), "")
