"""Summaries of many segments become one: breadth stays, detail is dropped."""

from hypothesis import given
from hypothesis import strategies as st

from chat.compaction.summaries.merge import Part, merge
from chat.compaction.summaries.schema import MIN_LIMIT, Summary, render
from recall.llm.tokens import count_tokens

from .test_schema import DATABASES, SUMMARIES

PARTS = st.lists(SUMMARIES, max_size=8).map(
    lambda summaries: [(10 * n + 1, 10 * n + 10, summary) for n, summary in enumerate(summaries)]
)


def segment(number: int, topics: int = 6) -> Part:
    """Segment `number` of ten turns, with its own topics and sentences."""
    summary = Summary(
        decisions=(f"In week {number} the user chose plan {number}.",),
        action_items=(f"Call supplier {number} back.",),
        insights=(f"Supplier {number} was late.",),
        topics=tuple(f"topic{number}x{place}" for place in range(topics)),
        narrative=f"The user asked about supplier {number} and about much else that was said in that week.",
    )
    return 10 * number - 9, 10 * number, summary


def shown(parts: list[Part], limit: int) -> str:
    return render(merge(parts, limit), parts[0][0], parts[-1][1], limit)


def test_a_merged_summary_tells_what_was_earlier_and_what_then() -> None:
    tea = Summary(decisions=("Buy green tea.",), topics=("tea", "FAISS"), narrative="The user asked about tea.")
    merged = merge([(1, 10, DATABASES), (11, 20, tea)], 400)
    assert merged.narrative == (
        "Earlier: The user compared FAISS and pgvector and chose pgvector. Then: The user asked about tea."
    )
    assert merged.decisions == (*DATABASES.decisions, "Buy green tea.")
    assert sorted(merged.topics) == ["FAISS", "pgvector", "tea", "vector databases"]


def test_nothing_and_one_segment_need_no_merging() -> None:
    assert merge([], 400) == Summary()
    assert merge([(1, 10, DATABASES)], 400) == DATABASES


def test_the_order_in_which_segments_are_given_is_of_no_matter() -> None:
    parts = [segment(number) for number in range(1, 12)]
    assert merge(parts, 400) == merge(parts[::-1], 400)


@given(PARTS, st.sampled_from([MIN_LIMIT, 150, 400, 800]))
def test_a_merged_summary_stays_within_its_limit(parts: list[Part], limit: int) -> None:
    merged = merge(parts, limit)
    assert merge(parts, limit) == merged
    assert count_tokens(render(merged, 1, 80, limit)) <= limit


def test_what_a_merge_keeps_is_shown_whole() -> None:
    parts = [segment(number) for number in range(1, 31)]
    for limit in (150, 400, 800):
        merged, text = merge(parts, limit), shown(parts, limit)
        kept = [*merged.decisions, *merged.action_items, *merged.insights, *merged.topics, merged.narrative]
        assert [one for one in kept if one not in text] == []


def test_a_thousand_turns_keep_a_topic_of_the_oldest_segments_as_of_the_newest() -> None:
    parts = [segment(number) for number in range(1, 101)]
    merged = merge(parts, 400)
    told = sorted({int(topic.removeprefix("topic").split("x")[0]) for topic in merged.topics})
    by_age = [sum(low < number <= low + 25 for number in told) for low in (0, 25, 50, 75)]
    assert len(told) == len(merged.topics)
    assert min(by_age) >= 5
    assert max(by_age) <= 3 * min(by_age)


def test_all_leading_topics_stay_before_a_second_one_of_any() -> None:
    merged = merge([segment(number) for number in range(1, 15)], 400)
    assert {f"topic{number}x0" for number in range(1, 15)} <= set(merged.topics)


def test_merging_one_by_one_keeps_what_merging_at_once_keeps() -> None:
    """Each step stays within the limit, and old topics aren't the ones that are dropped."""
    parts = [segment(number) for number in range(1, 61)]
    first, last, running = parts[0]
    for part in parts[1:]:
        running, last = merge([(first, last, running), part], 400), part[1]
    at_once = set(merge(parts, 400).topics)
    assert count_tokens(render(running, first, last, 400)) <= 400
    assert len(at_once & set(running.topics)) >= 0.7 * len(at_once)
    assert running.narrative.startswith("Earlier: ")
    assert running.narrative.count("Earlier: ") == 1
    assert sum(int(topic.removeprefix("topic").split("x")[0]) <= 20 for topic in running.topics) >= 5


def test_sentences_stay_in_the_order_they_were_said() -> None:
    merged = merge([segment(number) for number in range(1, 40)], 400)
    weeks = [int(text.split()[2]) for text in merged.decisions]
    assert weeks == sorted(weeks)
    assert len(weeks) >= 2


def test_what_the_user_wrote_is_introduced_once() -> None:
    one = Summary(narrative="The user wrote: “What is tea?”")
    two = Summary(narrative="The user wrote: “What is oolong?” “Is it green?”")
    once = merge([(1, 10, one), (11, 20, two)], 400)
    assert once.narrative == "Earlier: The user wrote: “What is tea?” Then: “What is oolong?” “Is it green?”"
    assert merge([(1, 20, once), (21, 30, one)], 400).narrative == f"{once.narrative} Then: “What is tea?”"


def test_a_narrative_of_a_hundred_segments_tells_of_few_but_says_something() -> None:
    merged = merge([segment(number) for number in range(1, 101)], 400)
    parts = merged.narrative.removeprefix("Earlier: ").split(" Then: ")
    assert 3 <= len(parts) <= 10
    assert all("asked about supplier" in part for part in parts)
