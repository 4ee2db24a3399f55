"""Scenarios: a user's sessions through the whole product, then probes in a new conversation."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

from django.utils import timezone

from chat.evaluation.cases import Scenario
from chat.evaluation.checks import judge, judge_facts
from chat.evaluation.person import Person, Worker

LAST_SESSION: Final = timedelta(hours=26)
"""How long before the probes the last session was: the sessions are dated back from now, at their own distances."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one case ended."""

    id: str
    category: str
    held_out: bool
    variant: str
    """`as is` or `accepted`."""
    failures: tuple[str, ...]
    seconds: float
    statements: tuple[str, ...] = ()
    """The facts known in the end, for investigating a failure."""

    @property
    def passed(self) -> bool:
        """Whether there were no failures."""
        return not self.failures


def run_scenario(scenario: Scenario, worker: Worker, *, accept: bool) -> Outcome:
    """Play a scenario with a new user. `accept`: accept every proposal."""
    started, person = monotonic(), Person(worker)
    failures = _play(scenario, person, accept=accept)
    for probe in scenario.probes:
        reply = person.ask(probe.ask)
        failures += [f"{probe.ask} → {one} (answer: {reply.answer[:120]})" for one in judge(probe, reply)]
    learned = [fact.statement for fact in person.facts()]
    failures += judge_facts(scenario.facts, learned)
    failures += _leaks(scenario, person)
    known = person.known()
    person.user.delete()
    return Outcome(
        scenario.id,
        scenario.category,
        scenario.held_out,
        "accepted" if accept else "as is",
        tuple(failures),
        monotonic() - started,
        known,
    )


def _play(scenario: Scenario, person: Person, *, accept: bool) -> list[str]:
    failures: list[str] = []
    for session, at in zip(scenario.sessions, _dates(scenario), strict=True):
        person.talk(session.say, at, same=session.same)
        if session.reject and not person.reject(session.reject):
            failures.append(f"nothing to reject: {session.reject}")
        if accept and not scenario.accept_at_end:
            person.accept_all()
    if accept and scenario.accept_at_end:
        person.accept_all()
    return failures


def _dates(scenario: Scenario) -> list[datetime]:
    """The sessions' dates, moved so that the last was yesterday; a second session on a day is 15 minutes later."""
    dates: list[datetime] = []
    for session in scenario.sessions:
        same_day = bool(dates) and session.at.date() == scenario.sessions[len(dates) - 1].at.date()
        dates.append(dates[-1] + timedelta(minutes=15) if same_day else session.at)
    ahead = timezone.now() - LAST_SESSION - dates[-1]
    return [date + ahead for date in dates]


def _leaks(scenario: Scenario, person: Person) -> list[str]:
    """Prompts after the secret's turn, and passages of the index, that still contain it."""
    if not scenario.secret:
        return []
    typed = next(
        number
        for number, text in enumerate(text for session in scenario.sessions for text in session.say)
        if scenario.secret in text
    )
    later = [number for number, prompt in person.prompts if number > typed and scenario.secret in prompt]
    wrong = [f"secret in the prompt of turn {number + 1}" for number in later]
    if any(scenario.secret in passage for passage in person.passages()):
        wrong.append("secret in the index")
    return wrong
