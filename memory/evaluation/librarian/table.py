"""The librarian evaluation as a text table: a row for each category and kind, then the sums."""

from collections.abc import Iterator, Mapping
from typing import Final

from memory.evaluation.librarian.run import Evaluation, Tally

NAME_WIDTH: Final = 18
WIDTH: Final = 11
COLUMNS: Final = ("facts", "found", "recall", "statements", "precision", "wrong att.", "junk")


def render(evaluation: Evaluation) -> str:
    """The whole report of one file, as plain text; shares in percent."""
    return "\n".join(
        [
            f"{evaluation.file}, read by {evaluation.engine}: {evaluation.messages} messages,"
            f" median {evaluation.median_ms:.1f} ms each.",
            "",
            *_block("category", evaluation.by_category),
            "",
            *_block("kind", dict(sorted(evaluation.by_kind.items()))),
            "",
            _row("all", evaluation.whole),
            "",
            *_sums(evaluation),
        ]
    )


def _block(name: str, tallies: Mapping[str, Tally]) -> Iterator[str]:
    yield f"{name:<{NAME_WIDTH}}" + "".join(f"{column:>{WIDTH}}" for column in COLUMNS)
    yield from (_row(name, tally) for name, tally in tallies.items())


def _row(name: str, tally: Tally) -> str:
    cells = (
        str(tally.facts),
        str(tally.found),
        _share(tally.recall),
        str(tally.statements),
        _share(tally.precision),
        _share(tally.misgiven / tally.statements if tally.statements else None),
        _share(tally.junk / tally.statements if tally.statements else None),
    )
    return f"{name:<{NAME_WIDTH}}" + "".join(f"{cell:>{WIDTH}}" for cell in cells)


def _share(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def _sums(evaluation: Evaluation) -> Iterator[str]:
    whole = evaluation.whole
    yield (
        f"Statements: right {whole.right}, tolerated {whole.tolerated}, wrong {whole.wrong};"
        f" right ones of an accepted kind: {evaluation.right_kind}; wrong and kept unasked: {whole.kept_wrong}."
    )
    yield f"Days resolved right: {evaluation.right_dates} of {evaluation.dates} found facts that name a day."
    yield "Decided (default policy):"
    yield from (f"  {count:>5}  {outcome}" for outcome, count in evaluation.outcomes.most_common())
    if evaluation.usage.input_tokens or evaluation.usage.output_tokens:
        yield (
            f"Readings: {evaluation.messages}, at least one call each; tokens in {evaluation.usage.input_tokens:,},"
            f" out {evaluation.usage.output_tokens:,}."
        )
