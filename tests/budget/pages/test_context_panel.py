"""What the context panel shows of an answer, and to whom."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget.models import Receipt
from budget.pages.context_panel import BAR_WIDTH, MIN_WIDTH, answer_room, bars, off_by, panel, qualifier_in_words
from budget.planning.fit import PRUNING_ORDER, Cut, Piece, fit
from budget.planning.plan import Section
from budget.receipts.record import TurnOutcome, finalize_receipt
from budget.spending.usage import of_receipt
from budget.templatetags.figures import cut_reason
from chat.models import Conversation, Message
from memory.documents import revisions
from memory.models import Episode, Fact
from tests.budget.pieces import plan_of
from tests.budget.rows import PLAN, Figures, answer_of, draft_for

SignIn = Callable[[Any], Any]
State = Receipt.State


BESIDE_THE_CHAT = {"HX-Request": "true"}
"""Requested by the chat page: the panel alone, without a page around it."""


def a_page(client: Any, message_id: int) -> str:
    """The panel as text, with normalized white space."""
    response = client.get(f"/receipts/{message_id}", headers=BESIDE_THE_CHAT)
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode())


def booked(user: Any, *rounds: Figures, state: State = State.COMPLETE, **more: Any) -> Receipt:
    receipt = draft_for(answer_of(user), **more)
    finalize_receipt(receipt, TurnOutcome(state, rounds, "In Lisbon.", timings={"total": 812.3}))
    return receipt


def test_the_panel_lists_what_was_recalled_with_tokens_score_and_source(alice: Any, sign_in: SignIn) -> None:
    page = a_page(sign_in(alice), booked(alice, Figures(input=10)).message_id)
    recalled = page.partition('id="receipt-recalled"')[2].partition('id="receipt-cut"')[0]
    assert "Your sister Mary lives in Lisbon." in recalled
    assert '<span class="number">15</span> tokens' in recalled
    assert 'href="/m/7"' in recalled
    assert "You are allergic to peanuts." in recalled.partition("Always sent: 1")[2]


def test_a_line_of_the_profile_that_the_question_called_for_is_listed_as_recalled(alice: Any, sign_in: SignIn) -> None:
    line = Piece(Section.PROFILE, "fact:5", "The user sings.", 6, score=0.3, relevance=0.74, parts={"semantic": 0.7})
    always = Piece(Section.PROFILE, "fact:6", "The user keeps bees.", 6, score=0.3)
    question = Piece(Section.MESSAGE, "question", "Do I sing?", 9)
    receipt = draft_for(answer_of(alice), fit([line, always, question], PLAN))
    finalize_receipt(receipt, TurnOutcome(State.COMPLETE, [Figures(input=10)], "Yes."))

    page = a_page(sign_in(alice), receipt.message_id).partition('id="receipt-recalled"')[2]

    recalled, _, others = page.partition("Always sent: 1")
    assert "You sing." in recalled
    assert '<p class="muted">in your profile</p>' in recalled
    assert "You keep bees." in others
    assert "You sing." not in others


def test_the_panel_says_whether_a_memory_still_holds(alice: Any, sign_in: SignIn) -> None:
    contested = "contested by fact:9 (The user lives in Duluth.)"
    memories = [
        Piece(Section.MEMORIES, "fact:5", "The user lives in Tucson.", 6, score=0.9, qualifier=contested),
        Piece(Section.MEMORIES, "fact:6", "The user sings.", 6, score=0.8, qualifier="current"),
    ]
    question = Piece(Section.MESSAGE, "question", "Where do I live?", 9)
    receipt = draft_for(answer_of(alice), fit([*memories, question], PLAN))
    finalize_receipt(receipt, TurnOutcome(State.COMPLETE, [Figures(input=10)], "In Duluth?"))

    page = a_page(sign_in(alice), receipt.message_id)

    assert page.count("A proposal contradicts it: You live in Duluth.") == 1


def test_the_panel_shows_the_message_that_perhaps_changed_another_while_it_is_there(
    alice: Any, bob: Any, sign_in: SignIn
) -> None:
    newer, others = answer_of(alice), answer_of(bob)
    Message.objects.filter(pk=newer.pk).update(text="We moved to Duluth")
    Message.objects.filter(pk=others.pk).update(text="We moved to Tulsa")
    memories = [
        Piece(Section.MEMORIES, f"message:{number}", text, 6, score=0.9, qualifier=f"perhaps changed by message:{by}")
        for number, text, by in ((1, "Tucson is hot", newer.pk), (2, "Our flat is small", others.pk))
    ]
    memories.append(Piece(Section.MEMORIES, f"message:{newer.pk}", "We moved to Duluth", 6, score=0.8))
    receipt = draft_for(answer_of(alice), fit(memories, PLAN))
    finalize_receipt(receipt, TurnOutcome(State.COMPLETE, [Figures(input=10)], "Hot."))
    page = a_page(sign_in(alice), receipt.message_id)
    assert "Perhaps changed by: We moved to Duluth" in page
    assert "Tulsa" not in page
    assert "<blockquote" not in page, "a message is shown once"
    newer.delete()
    assert "Perhaps changed by: We" not in a_page(sign_in(alice), receipt.message_id)


@pytest.mark.parametrize(
    ("qualifier", "words"),
    [
        ("current", ("", "")),
        ("until 2026-03-01", ("Until 1 March 2026", "")),
        ("superseded by fact:9 (The user lives in Lyon.)", ("Replaced", "The user lives in Lyon.")),
        ("before fact:9 (The user is 35.)", ("Said before", "The user is 35.")),
        ("perhaps changed by message:7", ("Perhaps changed", "")),
        ("waiting", ("Waits for your review", "")),
        ("waiting (The user sings.), contradicts fact:3", ("Waits for your review", "The user sings.")),
        ("asked, not stated", ("You asked this", "")),
        ("made up, not stated", ("Made up", "")),
    ],
)
def test_each_qualifier_has_words_of_its_own(qualifier: str, words: tuple[str, str]) -> None:
    assert qualifier_in_words(qualifier) == words


def test_a_profile_line_that_a_proposal_contradicts_is_shown_in_plain_words(alice: Any, sign_in: SignIn) -> None:
    contested = "The user lives in Tucson. (contested by a proposal: The user lives in Duluth.)"
    line = Cut(Piece(Section.MEMORIES, "fact:9", contested, 6, score=0.2), "below the floor")
    page = a_page(sign_in(alice), booked(alice, Figures(input=10), not_taken=(line,)).message_id)
    assert "<p>You live in Tucson. (a proposal contradicts it: You live in Duluth.)</p>" in page


def test_the_panel_lists_what_was_cut_by_the_rules_own_name(alice: Any, sign_in: SignIn) -> None:
    near = Cut(Piece(Section.MEMORIES, "fact:9", "Mary likes tea.", 6, score=0.2), "below the floor")
    page = a_page(sign_in(alice), booked(alice, Figures(input=10), not_taken=(near,)).message_id)
    cut = page.partition('id="receipt-cut"')[2]
    rule = next(step.rule for step in PRUNING_ORDER if step.section is Section.MEMORIES)
    assert "Left out: 2" in cut
    for label, reason in (("A long document", cut_reason(rule)), ("Mary likes tea.", "not relevant enough")):
        own = cut.partition(f"<p>{label}</p>")[2].partition("</li>")[0]
        assert f'<p class="muted">{reason}</p>' in own


def test_recalls_own_answers_are_grouped_below_what_else_was_left_out(alice: Any, sign_in: SignIn) -> None:
    near = Cut(Piece(Section.MEMORIES, "fact:9", "Mary likes tea.", 6, score=0.2), "below the floor")
    own = [
        Cut(Piece(Section.MEMORIES, f"message:{n}", f"Noted: {n}.", 6), rule)
        for n, rule in enumerate(("answered from memories", "did not know"))
    ]
    page = a_page(sign_in(alice), booked(alice, Figures(input=10), not_taken=(*own, near)).message_id)
    cut = page.partition('id="receipt-cut"')[2].partition('id="receipt-usage"')[0]
    assert "Left out: 4" in cut
    others, _, grouped = cut.partition("Recall's own answers: 2")
    assert ("Mary likes tea." in others, "Noted: " in others) == (True, False)
    assert grouped.count("<p>Noted: ") == 2


def test_the_panel_sets_the_prediction_beside_the_providers_figures(alice: Any, sign_in: SignIn) -> None:
    figures = Figures(input=362, cache_read=1_000, cache_write_1h=600, output=50)
    receipt = booked(alice, figures)
    page = a_page(sign_in(alice), receipt.message_id)
    rows = dict(re.findall(r'<th scope="row">([^<]+?)</th><td class="number">([\d,]+)</td>', page))
    assert rows == {
        "Fresh input": "362",
        "Cache read": "1,000",
        "Cache write": "600",
        "Output": "50",
    }
    assert f'<dt>Estimated prompt</dt> <dd class="number">{receipt.estimated_input:,}</dd>' in page
    assert "14% too low" in page
    assert '<span>Reserved for the answer</span> <span class="number">4,000</span>' in page
    assert "Plan “standard”" in page


def test_the_panel_names_each_section_without_its_tier(alice: Any, sign_in: SignIn) -> None:
    page = a_page(sign_in(alice), booked(alice, Figures(input=10)).message_id)
    for section in (Section.PROFILE, Section.MESSAGE):
        assert f"<span>{section.heading}</span>" in page
    assert not any(section.tier in page for section in Section if section.tier)


def test_the_panel_tells_the_cost_and_what_caching_saved(alice: Any, sign_in: SignIn, settings: Any) -> None:
    settings.IS_OFFLINE = False
    page = a_page(sign_in(alice), booked(alice, Figures(input=400, cache_read=12_000, output=300)).message_id)
    assert re.search(r"<dt>Cost</dt> <dd class=\"number\">\$0.005</dd>", page)
    assert re.search(r"<dt>Caching effect</dt> <dd class=\"number\">\$0.023 saved</dd>", page)
    assert "nothing is charged" not in page


def test_the_offline_demo_says_that_nothing_is_charged(alice: Any, sign_in: SignIn, settings: Any) -> None:
    settings.IS_OFFLINE = True
    receipt = booked(alice, Figures(input=400))
    settings.IS_OFFLINE = False  # a key was entered since: the old answer is still from the demo
    page = a_page(sign_in(alice), receipt.message_id)
    assert "Demo: nothing is charged." in page
    assert "tokens, free <span" in page
    assert "Would have cost" in page


def test_a_model_without_a_price_is_told_so(alice: Any, sign_in: SignIn, settings: Any) -> None:
    settings.IS_OFFLINE = False
    page = a_page(sign_in(alice), booked(alice, Figures(input=400), model="llama3.3:70b").message_id)
    assert "No price set for llama3.3:70b." in page


@pytest.mark.parametrize(
    ("state", "final", "badge", "estimated"),
    [
        (State.STOPPED, False, "Stopped", True),
        (State.FAILED, True, "Failed", False),
    ],
)
def test_the_panel_names_the_state_and_marks_estimates(
    alice: Any, sign_in: SignIn, state: State, final: bool, badge: str, estimated: bool
) -> None:
    page = a_page(sign_in(alice), booked(alice, Figures(input=400, final=final), state=state).message_id)
    assert f'<span class="badge">{badge}</span>' in page
    assert ("estimated</span>" in page) is estimated


def test_a_complete_answer_needs_no_badge_and_its_figures_fold_into_one_line(alice: Any, sign_in: SignIn) -> None:
    page = a_page(sign_in(alice), booked(alice, Figures(input=400)).message_id)
    assert "Complete" not in page
    order = [page.index(f'id="receipt-{part}"') for part in ("recalled", "cut", "usage")]
    assert order == sorted(order)
    assert page.index("<summary>", order[2]) < page.index('<svg class="budget-bar"')


def test_an_answer_counts_as_many_tokens_as_the_usage_does(alice: Any, sign_in: SignIn) -> None:
    receipt = booked(alice, Figures(input=362, cache_read=1_000, output=50))
    page = a_page(sign_in(alice), receipt.message_id)
    assert f'<span class="number">{of_receipt(receipt).tokens:,}</span> tokens' in page


def test_each_memory_shows_the_words_it_was_learned_from(alice: Any, sign_in: SignIn) -> None:
    fact = Fact.objects.create(user=alice, statement="The user sings.", quote="I sing on Tuesdays", status="active")
    line = Piece(Section.MEMORIES, fact.ref, "The user sings.", 6, score=0.3, parts={"semantic": 0.7})
    receipt = draft_for(answer_of(alice), fit([line], PLAN))
    finalize_receipt(receipt, TurnOutcome(State.COMPLETE, [Figures(input=10)], "Yes."))
    page = a_page(sign_in(alice), receipt.message_id)
    recalled = page.partition('id="receipt-recalled"')[2].partition("</section>")[0]
    assert "“I sing on Tuesdays”</blockquote>" in recalled
    fact.delete()
    assert "Tuesdays" not in a_page(sign_in(alice), receipt.message_id)


def test_what_is_recalled_names_what_it_is_a_part_of(alice: Any, sign_in: SignIn) -> None:
    document = revisions.save(alice, "/reference/tomatoes", "Twenty litres a pot.", started_from=0, title="Tomatoes")
    passage = document.chunks.get()
    talk = Conversation.objects.create(user=alice, title="A garden on the roof")
    episode = Episode.objects.create(user=alice, conversation=talk, title="The pump", summary="It failed.")
    answer, said = answer_of(alice), answer_of(alice)
    refs = [f"chunk:{passage.pk}", f"episode:{episode.pk}", f"message:{said.pk}", f"message:{answer.pk}"]
    refs += ["chunk:999", "episode:999", "message:999"]
    pieces = [Piece(Section.MEMORIES, ref, "Twenty litres.", 6, score=0.3, parts={"semantic": 0.7}) for ref in refs]
    receipt = draft_for(answer, fit(pieces, PLAN))
    receipt.save()
    page = a_page(sign_in(alice), receipt.message_id)
    assert f'from <a href="/memory/documents/reference/tomatoes#passage-{passage.number}">Tomatoes</a>' in page
    assert f'from <a href="/memory/timeline/{talk.pk}#episode-{episode.pk}">A garden on the roof</a>' in page
    assert f'from <a href="/m/{said.pk}">Family</a>' in page
    assert page.count("from <a ") == 3, "of its own conversation a message says nothing"


def test_while_the_answer_is_written_the_panel_already_shows_the_prompt(alice: Any, sign_in: SignIn) -> None:
    receipt = draft_for(answer_of(alice))
    receipt.save()
    page = a_page(sign_in(alice), receipt.message_id)
    assert "In progress" in page
    assert "sister Mary" in page
    assert "when the answer is complete" in page


def test_an_answer_without_memories_says_so(alice: Any, sign_in: SignIn) -> None:
    fitted = fit([Piece(Section.MESSAGE, "question", "Hello", 1)], plan_of(100))
    receipt = draft_for(answer_of(alice), fitted)
    receipt.save()
    page = a_page(sign_in(alice), receipt.message_id)
    assert "No relevant memories" in page
    assert 'id="receipt-cut"' not in page


def test_the_panel_warns_when_even_keyed_facts_were_cut(alice: Any, sign_in: SignIn) -> None:
    pieces = [
        Piece(Section.PROFILE, "fact:1", "The user is allergic to peanuts.", 60, is_protected=True),
        Piece(Section.MESSAGE, "question", "Long", 90),
    ]
    receipt = draft_for(answer_of(alice), fit(pieces, plan_of(100)))
    receipt.save()
    assert "key facts from your profile were left out" in a_page(sign_in(alice), receipt.message_id)


def test_the_bar_can_be_read_without_colour_and_without_seeing_it(alice: Any, sign_in: SignIn) -> None:
    page = a_page(sign_in(alice), booked(alice, Figures(input=10)).message_id)
    assert re.search(r'<svg class="budget-bar"[^>]*role="img" aria-label="About [\d,]+ of 40,000 tokens', page)
    legend = page.partition('<ul class="legend">')[2].partition("</ul>")[0]
    for section in Section:
        assert section.heading in legend
        assert f"segment-{section}" in page


def test_the_panel_keeps_to_the_strict_policy_and_escapes_what_people_wrote(alice: Any, sign_in: SignIn) -> None:
    evil = Piece(Section.MEMORIES, "fact:1", "<script>alert(1)</script>", 5, score=0.5, url='/m/1"><b>')
    receipt = draft_for(answer_of(alice), fit([evil], plan_of(100)))
    receipt.save()
    page = a_page(sign_in(alice), receipt.message_id)
    assert "<script" not in page
    assert "<b>" not in page
    assert not re.search(r"\s(style|on\w+)=", page)


def test_nobody_else_sees_a_receipt_not_even_staff(alice: Any, bob: Any, charlie: Any, sign_in: SignIn) -> None:
    receipt = booked(alice, Figures(input=10))
    for other in (bob, charlie):
        assert sign_in(other).get(f"/receipts/{receipt.message_id}").status_code == 404


@pytest.mark.parametrize("message_id", ["0", "999999999", "99999999999999999999999"])
def test_a_receipt_that_is_not_there_is_a_404(alice: Any, sign_in: SignIn, message_id: str) -> None:
    assert sign_in(alice).get(f"/receipts/{message_id}").status_code == 404


def test_an_answer_without_a_receipt_says_so(alice: Any, bob: Any, sign_in: SignIn) -> None:
    answer = answer_of(alice)
    assert "Recall has no record of the memories behind this answer." in a_page(sign_in(alice), answer.pk)
    page = sign_in(alice).get(f"/receipts/{answer.pk}").content.decode()
    assert "Recall has no record" in page
    assert page.index(f'href="/m/{answer.pk}"') < page.index("Family</a>") < page.index("<h1>"), "the way back"
    assert sign_in(bob).get(f"/receipts/{answer.pk}").status_code == 404


def test_without_signing_in_there_is_no_receipt(alice: Any, client: Any) -> None:
    response = client.get(f"/receipts/{booked(alice, Figures(input=10)).message_id}")
    assert response.status_code == 302
    assert "login" in response["Location"]


def test_by_its_link_the_panel_is_a_page_of_its_own(alice: Any, sign_in: SignIn) -> None:
    page = sign_in(alice).get(f"/receipts/{booked(alice, Figures(input=10)).message_id}").content.decode()
    assert page.count("<h1") == 1
    assert 'id="receipt-recalled"' in page


def test_a_receipt_is_only_read_and_never_kept_by_the_browser(alice: Any, sign_in: SignIn) -> None:
    client, address = sign_in(alice), f"/receipts/{booked(alice, Figures(input=10)).message_id}"
    assert client.post(address).status_code == 405
    assert "no-store" in client.get(address)["Cache-Control"]


def test_the_panel_takes_one_statement_for_the_receipt_and_two_each_for_its_facts_and_the_answers_beside_it(
    alice: Any, sign_in: SignIn, django_assert_num_queries: Any
) -> None:
    client, address = sign_in(alice), f"/receipts/{booked(alice, Figures(input=10)).message_id}"
    client.get(address)  # the first request of a session is noted
    # the session, the user, the receipt, the quotes, what replaced them; the answer, and those beside it
    with django_assert_num_queries(7):
        client.get(address, headers=BESIDE_THE_CHAT)


# The arithmetic -----------------------------------------------------------------------------------------------------


def total(section: Section, tokens: int) -> dict[str, Any]:
    return {"section": str(section), "ceiling": None, "tokens": tokens, "cut_tokens": 0, "items": 1, "cut": 0}


@given(st.lists(st.integers(0, 40_000), min_size=len(Section), max_size=len(Section)))
def test_the_bars_stand_side_by_side_each_as_wide_as_its_share(tokens: list[int]) -> None:
    placed = bars([total(*one) for one in zip(Section, tokens, strict=True)], plan_total=max(1, sum(tokens)))
    for before, after in pairwise(placed):
        assert after.x == before.x + before.width
    for bar, size in zip(placed, tokens, strict=True):
        assert (bar.width == 0) == (size == 0)
        # A thin bar is widened, and the wide ones give up what all thin ones take together.
        assert abs(bar.width - BAR_WIDTH * size / max(1, sum(tokens))) <= MIN_WIDTH * len(Section)


@given(
    st.lists(st.integers(0, 9_000) | st.integers(1, 3), min_size=len(Section), max_size=len(Section)),
    st.integers(0, 3_000),
    st.integers(0, 8_000),
)
def test_the_bars_never_reach_into_the_room_for_the_answer(tokens: list[int], unused: int, reserve: int) -> None:
    plan_total = sum(tokens) + unused + reserve
    sections = [total(*one) for one in zip(Section, tokens, strict=True)]
    sections[-1]["ceiling"] = sum(tokens) + unused
    last = bars(sections, plan_total)[-1]
    answer = answer_room(sections, plan_total)
    assert last.x + last.width <= answer.x
    assert answer.x + answer.width == BAR_WIDTH


@pytest.mark.parametrize(
    ("estimated", "actual", "is_estimate", "told"),
    [
        (1_024, 1_000, False, "2.4% too high"),
        (900, 1_000, False, "10% too low"),
        (1_000, 1_000, False, "exact"),
        (1_000, 0, False, ""),
        (1_000, 900, True, ""),
    ],
)
def test_the_prediction_is_compared_with_a_reported_figure_only(
    estimated: int, actual: int, is_estimate: bool, told: str
) -> None:
    first = {"input": actual, "cache_read": 0, "cache_write_5m": 0, "cache_write_1h": 0, "estimated": is_estimate}
    assert off_by(Receipt(estimated_input=estimated, rounds=[first])) == told


def test_an_open_receipt_compares_nothing() -> None:
    shown = panel(Receipt(estimated_input=5, plan_total=10))
    assert (shown.off_by, shown.cost, shown.bars, shown.answer.tokens) == ("", "", [], 10)


def test_the_page_of_its_own_has_a_heading_and_the_question_with_its_place(alice: Any, sign_in: SignIn) -> None:
    receipt = booked(alice, Figures(input=10))
    question = receipt.message.parent
    assert question is not None
    page = sign_in(alice).get(f"/receipts/{receipt.message_id}").content.decode()
    assert "<h1>Context of an answer</h1>" in page
    assert f'<a href="/m/{question.pk}">{question.text}</a>' in page
    assert question.text not in a_page(sign_in(alice), receipt.message_id), "beside the chat it stands there already"


def test_what_is_new_in_the_profile_is_shown_as_a_statement_with_the_words_it_was_learned_from(
    alice: Any, sign_in: SignIn
) -> None:
    Fact.objects.create(user=alice, statement="The user lives in Porto.", quote="I moved to Porto", status="active")
    new = Piece(Section.MEMORIES, "update:0", "New: The user lives in Porto.", 9, score=2.0, is_protected=True)
    over = Piece(Section.MEMORIES, "update:1", "No longer holds: The user lives in Braga.", 9, score=2.0)
    page = a_page(sign_in(alice), booked(alice, Figures(input=10), fitted=fit([new, over], PLAN)).message_id)

    assert "You live in Porto." in page
    assert "New: " not in page
    assert "“I moved to Porto”" in page


def test_a_fact_that_is_also_new_in_the_profile_is_listed_once(alice: Any, sign_in: SignIn) -> None:
    new = Piece(Section.MEMORIES, "update:0", "New: The user lives in Porto.", 9, score=2.0, is_protected=True)
    fact = Piece(Section.MEMORIES, "fact:5", "The user lives in Porto.", 9, score=0.8)
    page = a_page(sign_in(alice), booked(alice, Figures(input=10), fitted=fit([new, fact], PLAN)).message_id)
    assert page.count("<p>You live in Porto.</p>") == 1


def test_a_fact_is_edited_from_the_panel(alice: Any, bob: Any, sign_in: SignIn) -> None:
    porto = Fact.objects.create(user=alice, statement="The user lives in Porto.", status="active")
    over = Fact.objects.create(user=alice, statement="The user lives in Braga.", status="superseded")
    other = Fact.objects.create(user=bob, statement="The user lives in Rome.", status="active")
    used = [
        Piece(Section.MEMORIES, "update:0", f"New: {porto.statement}", 9, score=2.0, is_protected=True),
        *(Piece(Section.MEMORIES, fact.ref, fact.statement, 9, score=0.8) for fact in (over, other)),
        Piece(Section.MEMORIES, "message:7", "I like tea.", 9, score=0.8),
    ]

    page = a_page(sign_in(alice), booked(alice, Figures(input=10), fitted=fit(used, PLAN)).message_id)

    assert re.findall(r'href="/memory/facts/(\d+)\?edit"', page) == [str(porto.pk)]
    assert "Edit…" in page


def test_a_fact_corrected_since_names_the_latest_statement(alice: Any, sign_in: SignIn) -> None:
    last = Fact.objects.create(user=alice, statement="The user lives in Faro.", status="active")
    then = Fact.objects.create(
        user=alice, statement="The user lives in Braga.", status="superseded", superseded_by=last
    )
    first = Fact.objects.create(
        user=alice, statement="The user lives in Porto.", status="superseded", superseded_by=then
    )
    used = Piece(Section.MEMORIES, f"fact:{first.pk}", first.statement, 9, score=0.8)
    said = Piece(Section.MEMORIES, "message:7", "I live in Porto.", 9, score=0.8)
    cut = tuple(Cut(piece, "superseded") for piece in (used, said))
    page = a_page(sign_in(alice), booked(alice, Figures(input=10), fitted=fit([used], PLAN), not_taken=cut).message_id)
    assert "<p>You live in Porto.</p>" in page
    assert "Replaced by: You live in Faro." in page
    assert page.count(cut_reason("superseded")) == 1, "of what no fact is named that replaced it"
    assert "Braga" not in page


def test_a_statement_in_the_users_own_words_is_not_quoted_again(alice: Any, sign_in: SignIn) -> None:
    statement = "The user lives in Porto."
    fact = Fact.objects.create(user=alice, statement=statement, quote=statement, status="active")
    used = Piece(Section.MEMORIES, f"fact:{fact.pk}", statement, 9, score=0.8)
    page = a_page(sign_in(alice), booked(alice, Figures(input=10), fitted=fit([used], PLAN)).message_id)
    assert "“The user lives in Porto.”" not in page
