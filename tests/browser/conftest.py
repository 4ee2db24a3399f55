"""One running application and one Chromium for all tests of this folder; an error on any page fails its test."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.people import PATIENCE, OfflineServer, Person, Watch, anew, new_name
from tests.chromium import launched
from tests.running import App, free_port, running

OFFLINE_PORT = free_port()
PACE = 0.002
"""Seconds a word where a test names no pace: what only waits for an answer doesn't watch it being written."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Debian's Chromium with a new profile."""
    expect.set_options(timeout=PATIENCE)
    with launched() as browser:
        yield browser


@pytest.fixture(scope="package")
def app(browser: Browser) -> Iterator[App]:
    """What `make run` starts, with an offline server whose answers tests can script."""
    with running(OFFLINE_PORT=str(OFFLINE_PORT), OFFLINE_ADMIN="1", OFFLINE_DELTA_DELAY=str(PACE)) as app:
        yield app


@pytest.fixture(scope="package")
def offline(app: App) -> OfflineServer:
    """The model behind that application."""
    return OfflineServer(f"http://127.0.0.1:{OFFLINE_PORT}")


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Fails the test if a browser reported an error that the test didn't provoke."""
    watch = Watch()
    yield watch
    assert not watch.unforgiven(), "\n".join(watch.unforgiven())


@pytest.fixture
def newcomer(browser: Browser, app: App, watch: Watch) -> Iterator[Callable[[str], Person]]:
    """`newcomer("Dana")` is a user without an account yet."""
    people: list[Person] = []

    def newcomer(name: str) -> Person:
        people.append(Person(browser, app, watch, new_name(name)))
        return people[-1]

    yield newcomer
    for person in people:
        person.leave()


@pytest.fixture(scope="package")
def signed_up(browser: Browser, app: App) -> Person:
    """A user who signed up, for all tests that need no newcomer."""
    person = Person(browser, app, Watch(), new_name("Somebody"))
    person.sign_up()
    person.leave()
    return person


@pytest.fixture
def somebody(signed_up: Person, watch: Watch, request: pytest.FixtureRequest) -> Iterator[Person]:
    """That user with a fresh browser, signed in; they may already have conversations."""
    person = anew(signed_up, watch, request)
    yield person
    person.leave()
