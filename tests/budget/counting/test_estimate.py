"""Tokens are counted the same every time, not undercounted without the vocabulary, and the ratio is soon learned."""

import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
import tiktoken
import tiktoken.load
from hypothesis import given, settings
from hypothesis import strategies as st

from budget.counting import estimate as counting
from budget.counting.estimate import TextClass, classify, estimate
from recall.environment import BASE_DIR
from recall.llm import tokens
from recall.llm.tokens import REMEMBERED_FROM, WINDOW, Source, TokenCounter, count_by_characters
from recall.process import token_vocabulary

# `make` downloads it; the tests themselves never use the network.
VOCABULARY_FOLDER = BASE_DIR / "var" / "tiktoken"

PROSE = """My sister Mary lives in Lisbon, and I'm allergic to peanuts. We went there last summer; the trams were full,
the hills were steep, and every evening somebody sang. She says she will come back for my birthday on 4 March."""

CODE = """def bfs(graph: dict[str, list[str]], start: str) -> list[str]:
    seen, queue = {start}, deque([start])
    while queue:
        node = queue.popleft()
        for neighbour in graph.get(node, []):
            if neighbour not in seen:
                seen.add(neighbour); queue.append(neighbour)
    return sorted(seen)
"""

JSON = json.dumps(
    {
        "recalled_memories": [
            {"id": 4711, "source": "user", "date": "2026-11-21T10:03:00+01:00", "text": "My sister lives in Lisbon."},
            {"id": 4712, "source": "user", "date": "2026-11-20T09:00:00+01:00", "text": "Allergic to peanuts."},
        ],
        "note": "data, not instructions",
    }
)

SAMPLES: Mapping[str, tuple[TextClass, str]] = {
    "English": (TextClass.PROSE, PROSE),
    "German": (
        TextClass.PROSE,
        "Meine Schwester Maria wohnt in Lissabon, und ich vertrage keine Erdnüsse. Grüße!",
    ),
    "French": (
        TextClass.PROSE,
        "Ma sœur Marie habite à Lisbonne ; elle m'a écrit qu'elle viendrait bientôt à Évora.",
    ),
    "Polish": (TextClass.PROSE, "Moja siostra Maria mieszka w Lizbonie. Źdźbła trawy są już żółte, a ja wciąż czekam."),
    "Vietnamese": (TextClass.PROSE, "Chị gái tôi sống ở Lisbon và tôi bị dị ứng với đậu phộng. Chị ấy sẽ về nhà sớm."),
    "Turkish": (TextClass.PROSE, "Kız kardeşim Lizbon'da yaşıyor, benim de fıstığa alerjim var. Yakında görüşürüz."),
    "a list in prose": (
        TextClass.PROSE,
        "[1] See the book. [forgotten] was said (and meant) on Monday, not later.",
    ),
    "Python": (TextClass.CODE, CODE),
    "JavaScript": (TextClass.CODE, 'const rows = await db.all("SELECT id FROM t", []); rows.map((r) => r.id + 1);'),
    "HTML": (TextClass.CODE, '<ul class="facts">{% for f in facts %}<li id="f{{ f.id }}">{{ f.text }}</li></ul>'),
    "fenced": (
        TextClass.CODE,
        "Here is how you say hello in Python, in one line:\n```python\nprint('hello')\n```",
    ),
    "object": (TextClass.JSON, JSON),
    "indented object": (TextClass.JSON, json.dumps(json.loads(JSON), indent=2)),
    "list of numbers": (TextClass.JSON, json.dumps([n * 1.5 for n in range(60)])),
    "Russian": (TextClass.OTHER, "Моя сестра Мария живёт в Лиссабоне, а у меня аллергия на арахис. До скорой встречи!"),
    "Greek": (TextClass.OTHER, "Η αδελφή μου η Μαρία ζει στη Λισαβόνα και εγώ έχω αλλεργία στα φιστίκια."),
    "Arabic": (TextClass.OTHER, "أختي ماري تعيش في لشبونة وأنا أعاني من حساسية الفول السوداني."),
    "Hebrew": (TextClass.OTHER, "אחותי מרי גרה בליסבון ואני אלרגי לבוטנים. נתראה בקרוב!"),
    "Hindi": (TextClass.OTHER, "मेरी बहन मैरी लिस्बन में रहती है और मुझे मूंगफली से एलर्जी है।"),
    "Thai": (TextClass.OTHER, "พี่สาวของฉันอาศัยอยู่ที่ลิสบอน และฉันแพ้ถั่วลิสง"),
    "Chinese": (TextClass.CHINESE, "我姐姐玛丽住在里斯本，我对花生过敏。她说三月四日会回来给我过生日。"),
    "Japanese": (TextClass.JAPANESE, "姉のメアリーはリスボンに住んでいます。私はピーナッツアレルギーです。"),
    "Korean": (TextClass.KOREAN, "제 누나 메리는 리스본에 살고 있고, 저는 땅콩 알레르기가 있습니다."),
    "emoji": (TextClass.OTHER, "🎉🎉🎉 👩‍👩‍👧‍👦 🇵🇹 🥜🚫 😀😃😄😁"),
}

MEGABYTES = {
    "one letter": "a",
    "spaces": " ",
    "tabs": "\t",
    "line ends": "\n",
    "emoji": "😀",
    "joined emoji": "👩\u200d",
    "combining accents": "\u0301",
    "hieroglyphs": "𓀀",
    "quotes": '"',
    "Chinese": "中",
    "two letters": "ab",
}


@cache
def loaded() -> TokenCounter:
    return TokenCounter(VOCABULARY_FOLDER)


@pytest.fixture
def counter() -> TokenCounter:
    if loaded().source is Source.ESTIMATED:
        pytest.skip("the vocabulary is not on this machine: python -m recall.process.token_vocabulary")
    return loaded()


@pytest.fixture(scope="module")
def by_characters(tmp_path_factory: pytest.TempPathFactory) -> TokenCounter:
    return TokenCounter(tmp_path_factory.mktemp("empty"))


# The base count


def test_the_base_count_is_tiktokens(counter: TokenCounter) -> None:
    encoding = tiktoken.get_encoding("o200k_base")
    for _, text in SAMPLES.values():
        assert counter.count(text) == len(encoding.encode_ordinary(text))
    assert counter.count("") == 0


def test_a_long_text_is_counted_in_windows_that_cost_less_than_a_thousandth(counter: TokenCounter) -> None:
    for kind in ("English", "Python", "object", "Russian", "Chinese"):
        text = (SAMPLES[kind][1] + "\n") * (20 * WINDOW // len(SAMPLES[kind][1]))
        whole = len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))
        assert counter.count(text) == pytest.approx(whole, rel=0.001)


def test_control_tokens_in_a_text_are_counted_as_text(counter: TokenCounter) -> None:
    assert counter.count("<|endoftext|>") > 1
    assert counter.count("<|endofprompt|> and then <|im_start|>system") > 10


@pytest.mark.parametrize("broken", ["half a pair \ud83d", "NUL \x00 byte", "\udc80" * 3_000])
def test_broken_unicode_is_counted_and_no_error(
    broken: str, counter: TokenCounter, by_characters: TokenCounter
) -> None:
    assert counter.count(broken) > 0
    assert by_characters.count(broken) > 0


@pytest.mark.parametrize("unit", MEGABYTES.values(), ids=MEGABYTES.keys())
def test_a_megabyte_of_one_thing_is_counted_within_two_seconds(unit: str, counter: TokenCounter) -> None:
    text = (unit * 1_000_000)[:1_000_000]
    started = time.process_time()
    assert counter.count(text) > 0
    assert time.process_time() - started < 2  # 0.4 s on a slow core; the machine may be busy


def test_a_text_counted_before_is_not_counted_again(counter: TokenCounter, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PROSE * 10
    first = counter.count(text)
    monkeypatch.setattr(tokens, "_count", lambda *_: pytest.fail("counted again"))
    assert counter.count(text) == first


@pytest.mark.usefixtures("counter")
def test_what_is_remembered_stays_small_and_holds_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "REMEMBERED_TEXTS", 20)
    fresh = TokenCounter(VOCABULARY_FOLDER)
    for n in range(50):
        fresh.count(f"{n} " * REMEMBERED_FROM)
    assert len(fresh._remembered) == 20
    assert {len(key) for key in fresh._remembered} == {16}


def test_threads_count_alike(counter: TokenCounter) -> None:
    texts = [f"{n}: {text}" * 5 for n in range(20) for _, text in SAMPLES.values()]
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(counter.count, texts))
    assert at_once == [tokens._count(tiktoken.get_encoding("o200k_base"), text) for text in texts]


texts = st.text(max_size=200) | st.sampled_from([text for _, text in SAMPLES.values()]).flatmap(
    lambda text: st.integers(0, len(text)).map(lambda end: text[:end] * 30)
)


@given(first=texts, second=texts)
@settings(max_examples=150, deadline=None)
def test_joining_two_texts_hardly_adds_tokens(first: str, second: str) -> None:
    for count in (loaded().count, count_by_characters):
        assert 0 <= count(first + second) <= count(first) + count(second) + 4


# Without the vocabulary


def test_without_the_vocabulary_the_count_is_called_estimated(
    counter: TokenCounter, by_characters: TokenCounter
) -> None:
    assert (counter.source, by_characters.source) == ("o200k", "estimated")
    assert by_characters.count(PROSE) == count_by_characters(PROSE)


def test_a_damaged_vocabulary_is_left_alone_and_nothing_is_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tiktoken.load, "read_file", lambda path: pytest.fail(f"went to {path}"))
    damaged = tmp_path / token_vocabulary.FILE_NAME
    damaged.write_bytes(b"IQ== 0\nIg== 1\n")
    assert TokenCounter(tmp_path).source is Source.ESTIMATED
    assert damaged.exists()


@pytest.mark.parametrize("text", [text for _, text in SAMPLES.values()], ids=SAMPLES.keys())
def test_characters_never_undercount_and_at_most_treble(text: str, counter: TokenCounter) -> None:
    assert counter.count(text) <= count_by_characters(text) <= 3 * counter.count(text)


@pytest.mark.parametrize("unit", MEGABYTES.values(), ids=MEGABYTES.keys())
def test_characters_of_a_megabyte_are_counted_at_once(unit: str) -> None:
    started = time.process_time()
    assert count_by_characters(unit * 1_000_000) > 0
    assert time.process_time() - started < 0.5


# The class of a text


@pytest.mark.parametrize(("kind", "text"), SAMPLES.values(), ids=SAMPLES.keys())
def test_texts_are_told_apart_by_class(kind: TextClass, text: str) -> None:
    assert classify(text) is kind


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\x00", "\ud83d", "{", "["])
def test_a_text_with_nothing_in_it_is_prose_or_at_least_no_error(text: str) -> None:
    assert classify(text) in TextClass


def test_the_process_counts_and_classes_texts_without_the_vocabulary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.conf import settings as django_settings

    monkeypatch.setattr(django_settings, "TIKTOKEN_CACHE_DIR", tmp_path, raising=False)
    tokens.counter.clear()
    try:
        assert [(counting.classify(text), tokens.count_tokens(text)) for text in (PROSE, CODE)] == [
            (TextClass.PROSE, count_by_characters(PROSE)),
            (TextClass.CODE, count_by_characters(CODE)),
        ]
        assert tokens.source() is Source.ESTIMATED
        assert not tokens.exact()
    finally:
        tokens.counter.clear()


# The learned ratio


def test_the_estimate_applies_each_class_its_ratio_and_the_starting_one_where_none_is_learned() -> None:
    base = {TextClass.PROSE: 100, TextClass.CODE: 10, TextClass.JSON: 1}
    assert estimate(base, {TextClass.PROSE: 1.3, TextClass.CODE: 2.0}) == 152  # 130 + 20 + 1.7, rounded up
    assert estimate({}, {}) == 0


def test_a_question_about_a_paste_is_counted_as_two_texts() -> None:
    pasted = f"{PROSE}\n\n```python\n{CODE}```"
    counts = counting.by_class(pasted, 1_000)
    assert counts.keys() == {TextClass.PROSE, TextClass.CODE}
    assert sum(counts.values()) == 1_000
    assert counts == counting.by_class(pasted, 1_000), "remembered"


def test_a_text_of_one_kind_is_one_class() -> None:
    for kind, text in SAMPLES.values():
        assert counting.by_class(text, 100).get(kind, 0) >= 60


@given(st.text(max_size=600), st.integers(0, 5_000))
def test_dividing_a_count_among_classes_loses_nothing(text: str, base: int) -> None:
    counts = counting.by_class(text, base)
    assert sum(counts.values()) == base
    assert min(counts.values()) >= 0
