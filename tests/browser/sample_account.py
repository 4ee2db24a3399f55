"""A sample account with weeks of use, so that pages have something to show:
`python -m tests.browser.sample_account E-MAIL`.

Runs in the environment of the application whose pages are shown. Whatever can be learned, the worker learns from the
messages; only what would take weeks (episodes, an uploaded folder) is written here. The last line it prints is JSON:
names of things to look at, with their URLs.
"""

import json
import os
import sys
from datetime import datetime, timedelta
from typing import Final

import django

from recall.db.acting import act_by_default

TALKS: Final = (
    (
        33,
        "A garden on the roof",
        (
            ("I'm Mara, I live in Lisbon and I work as a marine biologist.", "Good to meet you, Mara."),
            ("My sister Ines has a bakery in Porto.", "A bakery run by your sister Ines, in Porto. Noted."),
            (
                "I want to grow tomatoes on my roof terrace. It gets eight hours of sun.",
                "Eight hours are plenty.\n\n1. Pots of **20 litres** or more\n2. A variety that stays small\n"
                "3. Water in the morning, not at noon",
            ),
        ),
    ),
    (
        21,
        "The talk in Bergen",
        (
            ("I am allergic to shellfish.", "I will keep shellfish out of every suggestion."),
            (
                "I give a talk about seagrass in Bergen in December. I want it to be under twenty minutes.",
                "Twenty minutes are about 2,400 words. Shall we begin with the one picture they should remember?",
            ),
            ("We decided to open with the drone film.", "The drone film first, then the map."),
        ),
    ),
    (
        9,
        "Moving to Setúbal",
        (
            ("I moved to Setúbal last week, the flat is near the harbour.", "Closer to your boats, then."),
            ("Please always answer in short paragraphs.", "Short paragraphs it is."),
            (
                "How do I compute the growth rate of a meadow?",
                "Take the logarithm of two areas:\n\n$$r = \\frac{\\ln A_2 - \\ln A_1}{t_2 - t_1}$$\n\n```python\n"
                "import math\n\ndef growth(first: float, second: float, years: float) -> float:\n"
                '    """Rate a year, from two areas in the same unit."""\n'
                "    return math.log(second / first) / years\n```\n\n"
                "| year | area (ha) |\n|---|---:|\n| 2021 | 14.2 |\n| 2026 | 19.8 |",
            ),
        ),
    ),
    (
        1,
        "Dinner on Saturday",
        (
            ("My friend Tomás is vegetarian and he comes for dinner on Saturday.", "Then nothing with meat."),
            ("I prefer dishes that can stand in the oven while we talk.", "A gratin, perhaps."),
        ),
    ),
)
"""Days ago, title, and the messages: the user's, then Recall's."""

EPISODES: Final = (
    (33, 0, 1, "plain", "Getting familiar", "Mara told of her work at sea and of her sister's bakery.", 0.3, 0.5),
    (21, 1, 2, "decision_made", "The film opens the talk", "Mara decided to open with the drone film.", 0.6, 0.8),
    (15, 0, 2, "issue_identified", "The pump failed", "The pump stopped and half the seedlings died.", -0.7, 0.6),
    (12, 0, 3, "problem_solved", "A pump that works", "A second battery runs the pump at night.", 0.7, 0.7),
    (9, 2, 1, "pivot", "A new home by the harbour", "Mara moved from Lisbon to Setúbal.", 0.5, 0.9),
)
"""Days ago, the talk's position, its turn, kind, title, summary, valence, significance."""

DOCUMENTS: Final = (
    ("/projects/seagrass/outline", "# The talk\n\nOpen with the drone film. Then the map.\n\n## Numbers\n\n19.8 ha.\n"),
    ("/projects/seagrass/sources", "# Sources\n\n- Survey of 2021\n- Survey of 2026\n"),
    ("/reference/tomatoes", "# Tomatoes\n\nTwenty litres a pot. Water in the morning.\n"),
)


def begin(email: str) -> dict[str, str]:
    """Create everything; returns the URLs of what is worth a look."""
    from django.utils import timezone

    from accounts.models import User
    from chat.ingest import librarian_triggers
    from chat.models import Conversation, Message
    from chat.projects import projects, roles
    from memory.documents import revisions
    from memory.models import Episode
    from recall.llm.tokens import count_tokens

    user, now = User.objects.get(email=email), timezone.now()
    talks: list[Conversation] = []
    for days, title, said in TALKS:
        at = now - timedelta(days=days)
        conversation = Conversation.objects.create(
            user=user, title=title, title_is_own=True, started_at=at, last_activity_at=at
        )
        parent: Message | None = None
        for turn, (asked, answered) in enumerate(said, start=1):
            for role, event, text in (
                (Message.Role.USER, Message.Event.USER_MESSAGE, asked),
                (Message.Role.ASSISTANT, Message.Event.ASSISTANT_RESPONSE, answered),
            ):
                parent = Message.objects.create(
                    user=user, conversation=conversation, seq=conversation.next_seq, parent=parent, turn=turn,
                    role=role, event_type=event, text=text, tokens=count_tokens(text), created_at=_after(at, turn),
                )  # fmt: skip
                conversation.next_seq += 1
        conversation.active_leaf = parent
        conversation.save()
        librarian_triggers.end(conversation)
        talks.append(conversation)
    for days, talk, turn, kind, title, summary, valence, significance in EPISODES:
        at = now - timedelta(days=days)
        Episode.objects.create(
            user=user, conversation=talks[talk], first_turn=turn, last_turn=turn, kind=kind, title=title,
            summary=summary, valence=valence, significance=significance, happened_at=at, recorded_at=at,
            participants=["Mara"], tokens=count_tokens(summary),
        )  # fmt: skip
    for path, text in DOCUMENTS:
        revisions.save(user, path, text, "user", started_from=0)
    projects.create(user, "Seagrass", "Short sentences; the audience are fishermen.")
    roles.create(user, "Editor", "Say what is missing before you say what is good.")
    garden, _, moving, dinner = (str(conversation.pk) for conversation in talks)
    return {"conversation": dinner, "formulas": moving, "story": garden}


def _after(at: datetime, turn: int) -> datetime:
    return at + timedelta(minutes=3 * turn)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "recall.settings")
    django.setup()
    act_by_default("command")
    print(json.dumps(begin(sys.argv[1])))
