"""People who talk while processes are killed: each sends, waits, asks again, and remembers what it was told."""

import random
import threading
import time
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

import httpx2
from websockets.exceptions import ConnectionClosed

from tests.processes.browser import Browser, Frame, Tab
from tests.processes.conftest import Provider
from tests.running import wait_until

LOST: Final = (ConnectionClosed, OSError, EOFError)
COME_BACK: Final = {"unavailable", "busy", "slow_down"}
"""Codes of errors after which the page, or its user, sends the same again."""
TURNS_A_CONVERSATION: Final = 2
RETRIED: Final = 0.7
"""Share of interrupted answers that are asked for again."""
PAUSE: Final = 0.05
"""Seconds between two words of an answer."""
TOWNS: Final = ("Lisbon", "Porto", "Lyon", "Nantes", "Turin", "Graz", "Bergen", "Cork")


@dataclass
class Memory:
    """What one person was told: messages that were accepted, and answers that were shown as complete."""

    accepted: dict[str, int] = field(default_factory=dict)
    """Text of a question → answers that were accepted for it."""
    complete: dict[int, str] = field(default_factory=dict)
    """Answer → its text as it was streamed."""
    outcomes: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)
    """Seconds until each message was accepted."""
    conversations: set[str] = field(default_factory=set)


class Person(threading.Thread):
    """One user with one tab, at one of the web processes, until `leaving` is set."""

    def __init__(
        self, name: str, addresses: list[str], provider: Provider, leaving: threading.Event, seed: int
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._dice = random.Random(f"{seed} {name}")
        self._provider, self._leaving = provider, leaving
        browser = Browser(addresses[0])
        browser.sign_up(f"{name}@example.org")
        self._browsers = [browser, *[browser.at(address) for address in addresses[1:]]]
        self._tab: Tab = browser.tab()
        self._conversation: str | None = None
        self.memory = Memory()
        self.fault: str | None = None

    def run(self) -> None:
        """Talk; what should never happen ends it and is kept in `fault`."""
        number = 0
        try:
            while not self._leaving.is_set():
                self._talk(number)
                number += 1
            wait_until(self._end_conversation)  # everything runs again: what was said last is read as well
        except Exception as fault:  # noqa: BLE001 -- whatever it is, it is judged
            self.fault = f"{self.name}: {type(fault).__name__}: {fault}"

    def _talk(self, number: int) -> None:
        if number % TURNS_A_CONVERSATION == 0:
            self._end_conversation()
            self._conversation = None
        asked = f"My friend {self.name.title()}{number} lives in {self._dice.choice(TOWNS)}."
        words = [f"{self.name}{number}-{word}" for word in range(self._dice.randint(5, 40))]
        self._provider.will_say(asked, " ".join(words), pause=PAUSE)
        accepted = self._send("send", conversation=self._conversation, text=asked)
        self._conversation = accepted["conversation"]
        self.memory.conversations.add(accepted["conversation"])
        self.memory.accepted[asked] = 1
        outcome = self._wait_for(accepted)
        if outcome != "complete" and self._dice.random() < RETRIED:
            self._provider.will_say(asked, " ".join(words), pause=PAUSE)
            again = self._send("retry", message=accepted["message"])
            self.memory.accepted[asked] += 1
            self._wait_for(again)

    def _send(self, kind: str, **fields: object) -> Frame:
        """Send until it is accepted, as the page does; always with the same client id."""
        client_id, began = str(uuid4()), time.monotonic()
        while True:
            try:
                self._tab.tell(kind, client_id=client_id, **fields)
                frame = self._tab.hear_of(client_id)
            except LOST:
                self._move()
                continue
            if frame["type"] == "accepted":
                self.memory.waits.append(time.monotonic() - began)
                return frame
            assert frame["code"] in COME_BACK, frame
            time.sleep(0.2)

    def _wait_for(self, accepted: Frame) -> str:
        """Until the answer is over, however it ends; its outcome, or "unknown" if another process wrote it."""
        answer, is_elsewhere = accepted["message"], bool(accepted["duplicate"])
        should_ask = is_elsewhere
        while True:
            try:
                if should_ask and not self._is_written(accepted):
                    return self._over(answer, "unknown")
                frame = self._tab.first(
                    lambda frame: frame["type"] == "nudge" or (frame["type"], frame.get("message")) == ("done", answer)
                )
            except LOST:
                self._move()
                should_ask = is_elsewhere = True
                continue
            if frame["type"] == "done":
                if frame["outcome"] == "complete":
                    self.memory.complete[answer] = self._tab.texts.get(answer, "").strip()
                return self._over(answer, frame["outcome"])
            should_ask = frame["kind"] == "resync" or (is_elsewhere and frame["kind"] == "conversation")

    def _over(self, answer: int, outcome: str) -> str:
        self._tab.texts.pop(answer, None)
        self.memory.outcomes.append(outcome)
        return outcome

    def _is_written(self, accepted: Frame) -> bool:
        """Whether some process still writes this answer; a page asks so when it has connected again."""
        while True:
            self._tab.tell("open", conversation=accepted["conversation"])
            frame = self._tab.first(lambda frame: frame["type"] in ("opened", "error"))
            if frame["type"] == "opened":
                return bool(frame["answer"] and frame["answer"]["message"] == accepted["message"])
            assert frame["code"] in COME_BACK, frame
            time.sleep(0.2)

    def _move(self) -> None:
        """Connect again, to whichever process a load balancer would choose."""
        while True:
            browser = self._dice.choice(self._browsers)
            try:
                self._tab = browser.tab(patience=2.0)
            except AssertionError:  # it is away
                continue
            return

    def _end_conversation(self) -> bool:
        """Press “Save memories now” and start another one; False: no process answered."""
        if self._conversation is not None:
            try:
                self._dice.choice(self._browsers).end(self._conversation)
            except (httpx2.HTTPError, AssertionError):
                return False  # in mid-chaos the next conversation has this one read as well
            self._conversation = None
        return True
