"""A conversation with the demo model, printed for reading: what a newcomer without a key sees.

    .venv/bin/python -m bench.demo_talk [--recalled]

Three sessions, days apart, through the whole product in a throw-away installation: prompts, retrieval, tools, the
librarian by rules. Before each session except the first, everything that waits for review is accepted. `--recalled`
also prints the memories in each prompt.
"""

import argparse
import os
from datetime import timedelta
from typing import Final

from bench.own_database import own_database
from bench.servers import free_port, server

DAYS_AGO: Final = (9, 4, 1)
SESSIONS: Final = (
    (
        "Hello!",
        "What can you do?",
        "My name is Nora.",
        "I'm a landscape architect and I live in Nantes.",
        "My sister Mary lives in Porto.",
        "Allergies: penicillin, latex",
        "My kids are called Noor and Sami, Noor is 7.",
        "What's my sister's name?",
        "Where do I live?",
        "Can you write a poem about the sea?",
        "ok thanks",
        "bye",
    ),
    (
        "Hi, me again",
        "What's my name?",
        "What do I do for a living?",
        "I moved to Lyon last week.",
        "So where do I live now?",
        "No, Mary isn't in Porto any more, she lives in Braga now.",
        "Where does Mary live?",
        "And what am I allergic to?",
        "What's 17 * 23?",
        "What time is it?",
    ),
    (
        "Good evening",
        "What do you know about me?",
        "Where did I live before Lyon?",
        "Who are my kids?",
        "Do I have a dog?",
        "My grandmother died last month.",
        "What's the capital of France?",
        "Please remember that my passport expires in May 2028.",
        "Forget my allergies",
        "Are you ChatGPT?",
        "Good night!",
    ),
)


def talk(*, recalled: bool) -> None:
    """Hold the conversation and print it."""
    from django.utils import timezone

    from chat.evaluation.person import Person, Worker

    with Worker() as worker:
        person = Person(worker)
        for days, messages in zip(DAYS_AGO, SESSIONS, strict=True):
            person.accept_all()
            print(f"\n--- {days} days ago ---" if days > 1 else "\n--- yesterday ---")
            person.conversation, since = None, timezone.now()
            for message in messages:
                reply = person.say(message)
                print(f"\n> {message}")
                for unit in reply.units if recalled else ():
                    if unit.place in {"memory", "profile"}:
                        print(f"      [{unit.place}] {unit.text} {unit.qualifier or ''}")
                print("\n".join(f"  {line}" if line else "" for line in reply.answer.splitlines()))
            person.settle(since, timezone.now() - timedelta(days=days))
        print("\n--- known in the end ---", *person.known(), sep="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recalled", action="store_true", help="print the memories in each prompt")
    chosen = parser.parse_args()
    port = free_port()
    model = server("offline.app:app", port, OFFLINE_DELTA_DELAY="0")
    with model, own_database(OFFLINE_URL=f"http://127.0.0.1:{port}", ENV_FILE=os.devnull):
        talk(recalled=chosen.recalled)
