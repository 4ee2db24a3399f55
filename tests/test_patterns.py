"""Patterns read people's texts in linear time: by the form of each, and by the clock of what reads texts."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from random import Random
from re import _compiler as compiler  # type: ignore[attr-defined]  # typeshed lacks it
from re import _constants as codes
from re import _parser as parser
from typing import Any

import pytest

from chat.compaction.summaries import rule_engine, schema
from chat.conversations import markdown_export, search_query, titles, topics
from chat.importing import claude
from chat.models import Conversation
from chat.prompt import ablation, stated_identity
from chat.tools import recency_cues, snippets
from memory import tombstones
from memory.forget_requests import requests
from memory.forgetting import scope, vocabulary
from memory.librarian.rules import table
from memory.network import pieces
from memory.retrieval import attribute_words, cues, query, question_kinds
from memory.retrieval.attribute_words import WORDS
from memory.secrets import governed, secrets_filter
from memory.speech_acts import made_up
from memory.text import (
    dates,
    denials,
    fact_lines,
    identifiers,
    keywords,
    language,
    mended_names,
    message_kinds,
    parts,
    plain_words,
    relations,
    second_person,
    user_text,
)  # fmt: skip
from tests.memory.librarian.rules.test_speed import found_in, is_linear
from tests.running import PROJECT

MOST = 12
"""Pieces from a module's own patterns."""
NOW = datetime(2026, 11, 20, tzinfo=UTC)
PIECES = ("a ", "x", " ", "\n", "\t", " \n", "- ", "'", '"', "“", "(", "[", "`", "1", "1 ", "1.", ", ", ". ", "? ",
          "A ", "Ab ", "é", "I ", "my ", "and ", "ab-", "a@", "https://a.", "a\n")  # fmt: skip
READS: dict[Any, Callable[[str], object]] = {
    dates: lambda text: dates.find_date(text, NOW.date()),
    denials: lambda text: (denials.read_denials(text), denials.read_shifts(text)),
    fact_lines: fact_lines.lines_of,
    identifiers: identifiers.atoms_of,
    keywords: lambda text: (keywords.content(text), keywords.names(text), keywords.dates(text)),
    language: language.is_english,
    mended_names: lambda text: (mended_names.find_mended_name(text), mended_names.name_like("Ab", text)),
    message_kinds: lambda text: (
        message_kinds.only_asks(text), message_kinds.admits_not_knowing(text),
        message_kinds.repeats_memories(text, text, [text]),
    ),
    parts: parts.parts_of,
    plain_words: plain_words.plain_words,
    second_person: second_person.second_person,
    relations: lambda text: relations.are_of_others(text, text),
    user_text: lambda text: (user_text.mask_foreign_text(text), user_text.mask_others_claims(text)),
    scope: lambda text: scope.decide(scope.read_topic("the move to Lisbon"), text),
    vocabulary: vocabulary.naming_words,
    pieces: lambda text: list(pieces.windows(text)),
    query: lambda text: query.parse_question(text, (), NOW),
    attribute_words: lambda text: [
        (words.asked(text), words.of_someone.search(text), words.of_user.search(text)) for words in WORDS.values()
    ],
    cues: lambda text: [query.parse_question(text, (), NOW, languages=[language]) for language in cues.CUES],
    question_kinds: lambda text: [kind.cue.search(text) and kind.topic(text) for kind in question_kinds.KINDS],
    secrets_filter: lambda text: (secrets_filter.find_secrets(text), secrets_filter.sensitive(text)),
    governed: lambda text: (
        governed.NAMES_SECRET.search(text),
        governed.is_named_secret(text, len(text)),
        governed.is_something_else(f"{text}4471", len(text), len(text) + 4),
        governed.is_something_else(text, 0, len(text)),
    ),
    made_up: lambda text: (made_up.is_about_fiction(text), made_up.is_made_up(text)),
    tombstones: lambda text: (list(tombstones.phrases_of(text)), list(tombstones.identifiers_of(text))),
    rule_engine: rule_engine.kind_of,
    schema: schema.to_single_line,
    markdown_export: lambda text: markdown_export.file_name(Conversation(title=text)),
    search_query: lambda text: search_query.highlight(text, search_query.parse_query("sea")),
    titles: titles.first_words,
    topics: lambda text: topics.topics_of([text], [text], 3),
    claude: lambda text: list(claude.split_statements(text)),
    requests: lambda text: [one.search(text) for one in vars(requests).values() if isinstance(one, re.Pattern)],
    ablation: lambda text: ablation.words_pattern([text]),
    stated_identity: lambda text: stated_identity.stated_in([text]),
    recency_cues: recency_cues.needs_web_search,
    snippets: snippets.first_sentence,
}  # fmt: skip
"""What of a module reads whole messages, documents or answers."""
BOUNDED = {
    "chat.archive.id_map": "keys of an archive's rows",
    "chat.conversations.model_choice": "a form's field",
    "chat.conversations.provenance": "the start of a line",
    "chat.evaluation.checks": "the answers of an evaluation",
    "chat.evaluation.scorecard": "the scorecard's own lines",
    "chat.importing.chatgpt": "a citation is bounded on both sides",
    "chat.importing.entries": "names of files",
    "chat.importing.json_stream": "tests/chat/importing",
    "chat.prompt.last_session": "one repeat, at its start",
    "chat.tools.memory_search": "ids in a result, each begun by a quotation mark",
    "chat.tools.read_document": "a reference",
    "chat.turn": "a reference",
    "memory.documents.readers.html_pages": "a process with limits reads files",
    "memory.documents.readers.pdf": "a process with limits reads files",
    "memory.documents.readers.text_files": "a process with limits reads files",
    "memory.documents.profile_updates": "statements",
    "memory.embeddings.graph": "a model's file",
    "memory.evaluation.librarian.labels": "the evaluation's own messages",
    "memory.facts.deduplication": "statements",
    "memory.facts.keys": "keys",
    "memory.facts.replacement": "statements",
    "memory.forgetting.select": "a topic",
    "memory.index.chunking": "tests/memory/index/test_chunking.py",
    "memory.index.indexer": "passages",
    "memory.index.large_collections": "names of indexes",
    "memory.librarian.changes.corrections": "tests/memory/librarian/test_corrections.py",
    "memory.librarian.changes.fact_words": "statements",
    "memory.librarian.changes.learned": "stretches of at most so many pieces",
    "memory.librarian.commit": "one repeat, at its start",
    "memory.librarian.echo": "classes of characters",
    "memory.librarian.key_assignment": "statements",
    "memory.librarian.quote_support": "quotes and statements",
    "memory.librarian.tagger.marked": "the network's own examples",
    "memory.forget_requests.labeled": "the network's own examples",
    "memory.updates.labeled": "the network's own examples",
    "memory.updates.talks": "the network's own examples",
    "memory.management.commands.train-network": "the network's own examples",
    "memory.models.paths": "paths",
    "memory.pages.search": "an excerpt",
    "memory.answers.counterfactual": "the network's own examples",
    "memory.query_encoder.labeled": "the network's own examples",
    "memory.refs": "references",
    "memory.retrieval.attribution": "classes of characters",
    "memory.retrieval.followed": "the two ends of a question, and a passage",
    "memory.retrieval.reading": "a question",
    "memory.retrieval.keyed_answers": "the two ends of a question, and statements",
    "memory.retrieval.truth": "a passage",
    "memory.secrets.learned": "words without a repeat",
    "memory.secrets.marked": "the network's own examples",
    "memory.text.replaced_statement": "statements",
}
"""Modules whose patterns meet short texts only, can split no text in two ways, or have a test elsewhere."""
RULES = "memory.librarian.rules."
"""Their speed has tests of its own."""
NEVER_FAILS = {"chat.compaction.summaries.rule_engine._SENTENCE", "memory.text.second_person._QUOTED"}
"""Their repeated repeat is followed by what matches nothing, too: no split is tried twice."""


def modules() -> Iterator[str]:
    """Names of the modules that compile a pattern."""
    for app in ("memory", "chat"):
        for file in sorted((PROJECT / app).rglob("*.py")):
            if "re.compile(" in file.read_text():
                yield ".".join(file.relative_to(PROJECT).with_suffix("").parts)


def patterns_of(module: Any) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The patterns of texts of a module, with their names."""
    for name, value in vars(module).items():
        for pattern in found_in(value() if value is table.compiled_rows else value):
            if isinstance(pattern.pattern, str):
                yield f"{module.__name__}.{name}", pattern


def test_every_module_with_a_pattern_is_listed() -> None:
    listed = {*BOUNDED, *(module.__name__ for module in READS)}
    assert {name for name in modules() if not name.startswith(RULES)} == listed


# The form ----------------------------------------------------------------------------------------------------------


ALPHABET = [chr(code) for code in range(32, 127)] + ["\n", "\t", "é", "’", "–", "“"]
SINGLE = (codes.LITERAL, codes.NOT_LITERAL, codes.IN, codes.ANY)
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


def single_characters(tree: Any) -> Iterator[Any]:
    """The parts of a pattern that match one character."""
    for code, argument in tree:
        if code in SINGLE:
            yield code, argument
        for part in parts_of(code, argument):
            yield from single_characters(part)


def parts_of(code: Any, argument: Any) -> list[Any]:
    """What is within a repeat, a group or alternatives."""
    if code in REPEATS:
        return [argument[2]]
    if code == codes.SUBPATTERN:
        return [argument[-1]]
    return list(argument[1]) if code == codes.BRANCH else []


def matched_by(part: Any, flags: int) -> set[str]:
    """The characters that such a part matches."""
    state = parser.State()
    state.flags = flags
    one = compiler.compile(parser.SubPattern(state, [part]), flags)
    return {character for character in ALPHABET if one.fullmatch(character)}


def repeats_a_repeat(tree: Any, flags: int) -> bool:
    """Whether an unbounded repeat is in another one, and no character that it can't take parts two rounds."""
    return any(
        (
            code in REPEATS
            and argument[1] == codes.MAXREPEAT
            and not all(is_parted(argument[2], taken_by(inner, flags), flags) for inner in unbounded(argument[2]))
        )
        or any(repeats_a_repeat(part, flags) for part in parts_of(code, argument))
        for code, argument in tree
    )


def unbounded(tree: Any) -> Iterator[Any]:
    """What is repeated without a bound; a possessive repeat gives nothing back."""
    for code, argument in tree:
        if code in REPEATS and argument[1] == codes.MAXREPEAT and code != codes.POSSESSIVE_REPEAT:
            yield argument[2]
        for part in parts_of(code, argument):
            yield from unbounded(part)


def taken_by(repeated: Any, flags: int) -> set[str]:
    """The characters that a repeat may take."""
    return set[str]().union(*(matched_by(part, flags) for part in single_characters(repeated)))


def is_parted(body: Any, taken: set[str], flags: int) -> bool:
    """Whether each round of a body has a character that the repeat in it can't take."""
    for code, argument in body:
        parts = parts_of(code, argument)
        if code in SINGLE and not matched_by((code, argument), flags) & taken:
            return True
        has_none = code in REPEATS and argument[0] == 0
        if parts and not has_none and all(is_parted(part, taken, flags) for part in parts):
            return True
    return False


def test_no_pattern_repeats_a_repeat() -> None:
    found = {
        name
        for module in modules()
        for name, pattern in patterns_of(import_module(module))
        if repeats_a_repeat(parser.parse(pattern.pattern, pattern.flags), pattern.flags)
    }
    assert found == NEVER_FAILS
    assert all(repeats_a_repeat(parser.parse(bad), 0) for bad in (r"(?:a+)+b", r"(?:\w+,?)*c", r"x(?:(?:a|b+)*)y"))
    assert not any(repeats_a_repeat(parser.parse(good), 0) for good in (r"\w+(?:-\w+)*", r"(?:,\s+a)*", r"(?:a+b)*"))


# The clock ---------------------------------------------------------------------------------------------------------


def example(tree: Any, chance: Random) -> str:
    """A text that a pattern, or the beginning of one, may match."""
    text = ""
    for code, argument in tree:
        if code in REPEATS:
            least, most, repeated = argument
            text += "".join(example(repeated, chance) for _ in range(chance.randint(least, min(int(most), least + 2))))
        elif code in SINGLE:
            text += chance.choice(sorted(matched_by((code, argument), 0)) or [""])
        elif parts := parts_of(code, argument):
            text += example(chance.choice(parts), chance)
    return text


def hostile_pieces(module: Any) -> list[str]:
    """What is repeated: pieces of all kinds, and what the module's patterns look for, whole and cut short."""
    chance = Random(module.__name__)
    found = {
        piece
        for _, pattern in patterns_of(module)
        for text in [example(parser.parse(pattern.pattern, pattern.flags), chance)[:200]]
        for piece in (f"{text} ", text[:-1])
        if piece
    }
    return [*PIECES, *chance.sample(sorted(found), min(len(found), MOST))]


@pytest.mark.parametrize("module", READS, ids=lambda module: module.__name__)
def test_what_reading_takes_grows_with_the_length(module: Any) -> None:
    read = READS[module]
    read("I live in Porto.")  # loads what it needs
    for piece in hostile_pieces(module):
        for frame in ("{}", "I {}b"):
            assert is_linear(read, piece, frame), frame.format(piece)
