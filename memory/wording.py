"""What if a person writes in another language than before? Their memories' words are read anew, in the background.

`User.language` says which language it is to be, `User.words_in` which one the rows' words are read in. While the two
differ a question is put in both, so that nothing is lost meanwhile; what is written is read in the new one at once.
"""

from __future__ import annotations

from typing import Final

from django.db.models import F

from accounts.models import User
from memory.indexing import restore_words
from memory.models import PersonalIndex
from recall.celery import queue

TASK: Final = "memory.tasks.reword"


def look() -> None:
    """Have the worker look for people whose language changed."""
    queue(TASK)


def reword_due() -> int:
    """Read the words anew of all who write in another language than their rows are read in; how many that were.

    From the beginning where a worker was lost; a row whose words are those already is not written.
    """
    due = list(User.objects.exclude(words_in=F("language")))
    for user in due:
        restore_words(user.pk)
        # Whoever changed their mind meanwhile is due again.
        User.objects.filter(pk=user.pk, language=user.language).update(words_in=user.language)
        PersonalIndex.objects.for_user(user).update(built_at=None)  # its common words are those of the other language
    return len(due)
