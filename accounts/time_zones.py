"""Finds a time zone by what people call it: its name, its city, “Pacific time”, “UTC+2”. It never guesses."""

import re
from functools import cache
from typing import Final
from zoneinfo import available_timezones

_REGIONS: Final = "America Africa Arctic Antarctica Asia Atlantic Australia Pacific Indian Europe"
REGIONS: Final = tuple(_REGIONS.split())
"""Folders of the time zone database whose names are cities; the last one wins (Istanbul is in Asia and in Europe)."""
AMERICAN: Final = ("US/Pacific", "US/Mountain", "US/Central", "US/Eastern")
"""American zones that people know by the second half of their name: “Pacific time”."""
_OFFSET: Final = re.compile(r"(?:utc|gmt) ?([+−-]) ?(\d{1,2})", re.IGNORECASE)
_WORDS_BESIDE: Final = re.compile(r"^the\b|\b(?:us|standard|daylight|summer|time(?: ?zone)?|zone)\b", re.IGNORECASE)


def find_zone(said: str) -> str:
    """The zone's name, such as Europe/Lisbon; empty if `said` names none."""
    if offset := _OFFSET.fullmatch(said.strip()):
        sign = "-" if offset[1] == "+" else "+"  # in these names, west is positive
        name = f"Etc/GMT{sign}{int(offset[2])}"
        return name if name in available_timezones() else ""
    bare = " ".join(_WORDS_BESIDE.sub(" ", said.replace("_", " ")).split()).casefold()
    return _names().get(bare, "")


def zone_label(name: str) -> str:
    """How a page names a zone: “Lisbon”, “UTC+2”."""
    last = name.rpartition("/")[2].replace("_", " ")
    return last.translate(str.maketrans("+-", "-+")).replace("GMT", "UTC") if name.startswith("Etc/GMT") else last


@cache
def _names() -> dict[str, str]:
    """Names of each zone, in lower case."""
    zones = available_timezones()
    names = {zone.removeprefix("US/"): zone for zone in AMERICAN}
    for region in REGIONS:
        cities = (zone for zone in sorted(zones) if zone.startswith(f"{region}/") and zone.count("/") == 1)
        names |= {zone.removeprefix(f"{region}/"): zone for zone in cities}
    names |= {zone: zone for zone in zones}
    return {name.replace("_", " ").casefold(): zone for name, zone in names.items()}
