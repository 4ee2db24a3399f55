"""`manage.py evaluate-questions FILE…`: labeled questions in a language, through Recall's own retrieval."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.languages import Language
from memory.embeddings.port import embedder
from memory.evaluation.retrieval.labeled_questions import Asked, Figures, ask_all, figures, people
from memory.query_encoder.labeled import read_questions

ROW: Final = "{:<20}{:>12}{:>8}{:>8}{:>14}{:>8}"


class Command(BaseCommand):
    help = (
        "Ask labeled questions (tests/memory/data/asked_*.ask) in their language, with the embedding model of the"
        " settings. Prints in percent: an answer is the first memory (hit@1), answers recalled (R@5), and silence where"
        " nothing answers. Works with a temporary user."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--language", choices=Language.values, default=Language.ENGLISH.value)
        parser.add_argument("--people", nargs="+", type=int, metavar="N", help="only these of the file, from 1")
        parser.add_argument("--misses", action="store_true", help="list each question with what was recalled instead")

    def handle(self, *args: Any, files: Sequence[Path], language: str, misses: bool, **options: Any) -> None:
        self.stdout.write(f"{language}, {embedder().name}")
        self.stdout.write(ROW.format("", "answerable", "hit@1", "R@5", "unanswerable", "silent"))
        for path in files:
            asked = [one for own in _people(path, options["people"]) for one in ask_all(own, language, timezone.now())]
            self.stdout.write(_row(path.name, figures(asked)))
            if misses:
                self.stdout.write("\n".join(_miss(one) for one in asked if not _is_right(one)))


def _people(path: Path, numbers: Sequence[int] | None) -> list[Any]:
    try:
        found = people(read_questions(path.read_text("utf-8")))
        return found if numbers is None else [found[number - 1] for number in numbers if number > 0]
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise CommandError(f"{path.name}: {error}") from error
    except IndexError:
        raise CommandError(f"{path.name} has only {len(found)} people.") from None


def _row(name: str, found: Figures) -> str:
    shares = [f"{share:.1f}" for share in (found.hit, found.recalled, found.silent)]
    return ROW.format(name, found.answerable, *shares[:2], found.unanswerable, shares[2])


def _is_right(one: Asked) -> bool:
    if one.has_answer:
        return one.is_hit
    return not one.has_nothing or not one.kept


def _miss(one: Asked) -> str:
    recalled = [f"    {place + 1} {one.question.memories[place]}" for place in one.kept]
    wanted = ", ".join(str(place + 1) for place in one.question.answers) or "nothing"
    return "\n".join([f"  {one.question.text} ({wanted})", *recalled])
