"""`make screenshots`: every page in both themes and four widths, below var/screenshots, for checking by eye."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, expect

from tests.browser.people import PATIENCE, OfflineServer, Person, Watch, new_name
from tests.browser.tour import ENTRANCES, PLACES, furnish, visit
from tests.chromium import launched
from tests.running import PROJECT, App, free_port, running

WIDTHS: Final = {"small": (320, 568), "phone": (390, 844), "tablet": (1024, 768), "desktop": (1440, 900)}
SCHEMES: Final = ("light", "dark")
FOLDER: Final = PROJECT / "var" / "screenshots"


@contextmanager
def _opened() -> Iterator[tuple[Browser, App, OfflineServer]]:
    port = free_port()
    expect.set_options(timeout=PATIENCE)
    with launched() as browser, running(OFFLINE_PORT=str(port), OFFLINE_ADMIN="1") as app:
        yield browser, app, OfflineServer(f"http://127.0.0.1:{port}")


def _take(person: Person, folder: Path, addresses: Mapping[str, str]) -> Iterator[Path]:
    for width, (across, down) in WIDTHS.items():
        for scheme in SCHEMES:
            context = person.open_browser(viewport={"width": across, "height": down}, color_scheme=scheme)
            page = context.new_page()
            for name, address in addresses.items():
                visit(page, address)
                page.wait_for_load_state("networkidle")
                taken = folder / f"{name}-{width}-{scheme}.png"
                page.screenshot(path=taken)
                yield taken
            context.close()
            person.contexts.remove(context)


def main(wanted: list[str]) -> None:
    """Take them; `wanted` names pages of PLACES, empty: all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with _opened() as (browser, app, offline):
        person = Person(browser, app, Watch(), "Mara")
        places = furnish(person, app, offline)
        addresses = {name: at.format(**places) for name, at in PLACES.items() if not wanted or name in wanted}
        taken = list(_take(person, FOLDER, addresses))
        visitor = Person(browser, app, Watch(), new_name("Nobody"))
        taken += _take(visitor, FOLDER, {name: at for name, at in ENTRANCES.items() if not wanted or name in wanted})
    print(f"{len(taken)} screenshots in {FOLDER.relative_to(PROJECT)}")


if __name__ == "__main__":
    main(sys.argv[1:])
