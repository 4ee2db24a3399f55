"""The page `/budget`: what it shows, and what its forms do."""

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from budget.models import BudgetPlan, Limit, Receipt
from budget.pages import live, plan
from budget.planning.fit import PRUNING_ORDER
from budget.planning.plan import LONG, STANDARD, Section
from budget.planning.user_plan import plan_for
from budget.spending.limits import Per, What, set_limit
from budget.templatetags import figures
from budget.templatetags.figures import cut_reason
from memory.models import Fact, ReviewAction
from tests.budget.dashboard_rows import item, month_of_turns
from tests.budget.rows import a_prompt, answer_of, draft_for

pytestmark = pytest.mark.django_db

SignIn = Callable[[Any], Client]
PAGE = "/usage"
ADVANCED = "/usage/advanced"
STATEMENTS = 24
"""Maximum statements for the whole page, session and account included, whatever it shows."""

MAX_PAGE_BYTES = 120_000
"""Bytes, before the proxy compresses them: four charts with their tables, thirty memories, three forms."""


@pytest.fixture(autouse=True)
def _a_large_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("budget.pages.live.context_window", lambda latest: 200_000)


def text_of(response: Any, status: int = 200) -> str:
    """The page with normalized white space and without tags."""
    assert response.status_code == status
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


# What it shows -------------------------------------------------------------------------------------------------------


def test_somebody_who_never_said_anything_finds_a_page_that_says_so(sign_in: SignIn, alice: Any) -> None:
    client = sign_in(alice)
    page, advanced = text_of(client.get(PAGE)), text_of(client.get(ADVANCED))
    assert "Today $0 0 turns, 0 tokens This month $0 0 turns, 0 tokens" in page
    assert page.count("No data yet") == 1
    assert "No messages yet." in advanced
    assert "No memories sent" in advanced
    assert advanced.count("No data yet") == 3


def test_the_first_page_has_two_totals_one_chart_and_the_limits(sign_in: SignIn, alice: Any) -> None:
    month_of_turns(alice, 3)
    page = text_of(sign_in(alice).get(PAGE))
    assert page.count("Cost by day") >= 1
    assert "Save limits" in page
    for word in ("Token plan", "Cache", "Estimated", "Memory costs"):
        assert word not in page.split("Advanced")[0], word


def test_a_turn_that_is_being_answered_shows_what_was_predicted(sign_in: SignIn, alice: Any) -> None:
    draft_for(answer_of(alice)).save()
    page = text_of(sign_in(alice).get(reverse("usage_turn")))
    assert "In progress" in page
    assert f"Estimated {a_prompt().tokens:,}" in page
    assert "Actual after the answer" in page


def test_the_latest_turn_is_told_by_section_predicted_counted_and_paid(sign_in: SignIn, alice: Any) -> None:
    month_of_turns(alice, 3)
    latest = Receipt.objects.order_by("-created_at").first()
    assert latest is not None
    page = text_of(sign_in(alice).get(ADVANCED))
    assert f"Estimated {latest.estimated_input:,} Actual {latest.total_input:,}" in page
    assert "Profile 640 5,000" in page
    assert f"Cache read {latest.cache_read_tokens:,}" in page
    assert f"Cache write {latest.cache_write_tokens:,}" in page
    assert f"Fresh {latest.input_tokens:,} Output: {latest.output_tokens:,}" in page
    assert "Boundaries 120 No limit" in page


def test_turn_conversation_day_and_month_are_added_up_with_what_the_cache_saved(alice: Any) -> None:
    noon = timezone.now()
    month_of_turns(alice, 2, until=noon, days=0)
    month_of_turns(alice, 1, until=noon + timedelta(seconds=1), days=0, title="Cooking")
    now = live.build_live_status(alice)
    assert [(line.name, line.used.turns) for line in now.lines] == [
        ("Latest turn", 1),
        ("Conversation", 1),
        ("Today", 3),
        ("This month", 3),
    ]
    receipts = Receipt.objects.all()
    assert now.lines[-1].used.cost == sum((receipt.cost or Decimal(0) for receipt in receipts), Decimal(0))
    assert now.lines[-1].used.saved == sum(
        ((receipt.cost_uncached or Decimal(0)) - (receipt.cost or Decimal(0)) for receipt in receipts), Decimal(0)
    )
    assert [line.name for line in now.by_model] == ["claude-sonnet-5-5"]


def test_a_turn_whose_writing_of_the_cache_cost_more_than_it_saved_says_so(alice: Any) -> None:
    month_of_turns(alice, 1)
    assert live.build_live_status(alice).lines[0].caching_effect.endswith(" extra")


def test_the_page_asks_the_database_no_more_for_a_thousand_turns_than_for_ten(sign_in: SignIn, alice: Any) -> None:
    items = [item(f"fact:{number}", Section.MEMORIES, 20) for number in range(5)]
    client = sign_in(alice)
    client.get("/shortcuts")  # the first request of a session is recorded
    for turns in (10, 1_000):
        month_of_turns(alice, turns, items)
        with CaptureQueriesContext(
            connection,
        ) as asked:
            client.get(ADVANCED)
        assert len(asked) <= STATEMENTS, [one["sql"][:90] for one in asked]


def test_a_full_page_has_a_bounded_weight(sign_in: SignIn, alice: Any) -> None:
    month_of_turns(alice, 60, [item(f"fact:{number}", Section.MEMORIES, 20) for number in range(100)])
    assert len(sign_in(alice).get(ADVANCED).content) < MAX_PAGE_BYTES


def test_only_staff_are_led_to_the_prices(sign_in: SignIn, alice: Any, charlie: Any) -> None:
    address = reverse("admin:budget_price_changelist")
    assert address not in sign_in(alice).get(ADVANCED).content.decode()
    assert address in sign_in(charlie).get(ADVANCED).content.decode()


def test_the_line_beside_the_composer_tells_of_the_conversations_own_latest_turn(sign_in: SignIn, alice: Any) -> None:
    older = month_of_turns(alice, 2)
    month_of_turns(alice, 5, until=timezone.now() + timedelta(days=1))
    latest = Receipt.objects.filter(conversation=older).order_by("-turn").first()
    assert latest is not None
    page = text_of(sign_in(alice).get(reverse("usage_line", args=[older.pk])))
    assert "tokens" not in page, "little of the budget is used"
    Receipt.objects.filter(pk=latest.pk).update(estimated_input=28_000)
    page = text_of(sign_in(alice).get(reverse("usage_line", args=[older.pk])))
    assert "28,000 of 40,000 tokens" in page
    whole = text_of(sign_in(alice).get(reverse("conversation", args=[older.pk])))
    assert "28,000 of 40,000 tokens" in whole, "its page has the line from the start, so that nothing moves"


# The plan ------------------------------------------------------------------------------------------------------------


def with_memories(user: Any, number: int = 10) -> None:
    """A latest turn that recalled this many memories of 300 tokens, and whatever else it needs."""
    recalled = [item(f"fact:{n}", Section.MEMORIES, 300, score=n / 100) for n in range(1, number + 1)]
    month_of_turns(user, 1, [item("question", Section.MESSAGE, 16_000, None), *recalled])


def a_plan(**fields: Any) -> dict[str, str]:
    """The form as the browser sends it."""
    sizes = {str(section): tokens for section, tokens in STANDARD.ceilings.items()}
    form = {"preset": "standard", "total": 40_000, "output_reserve": 4_000, **sizes, **fields}
    return {name: str(value) for name, value in form.items()}


def test_moving_a_slider_tells_which_items_would_be_cut_and_saves_nothing(sign_in: SignIn, alice: Any) -> None:
    with_memories(alice)
    smaller = a_plan(do="preview", total=21_200, blueprint=1_000, profile=0, history=500, memories=1_000, task=300)
    response = sign_in(alice).post(reverse("usage_plan"), smaller, headers={"HX-Request": "true"})
    page = text_of(response)
    assert "With this budget 6 items (1,800 tokens) would be trimmed." in page
    assert "19,000 tokens before, 17,200 after." in page
    assert "About fact:6 " in page
    assert "About fact:7 " not in page
    assert "lowest scores trimmed first" in page
    assert not BudgetPlan.objects.exists()


@pytest.mark.parametrize("is_there", [True, False])
def test_figures_are_told_as_estimated_where_there_is_no_vocabulary(
    sign_in: SignIn, alice: Any, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    monkeypatch.setattr(figures, "exact", lambda: is_there)
    with_memories(alice)
    Receipt.objects.update(estimated_input=30_000)
    latest, client, beside = Receipt.objects.get(), sign_in(alice), {"HX-Request": "true"}
    smaller = a_plan(do="preview", total=21_200, blueprint=1_000, profile=0, history=500, memories=1_000, task=300)

    panel = text_of(client.get(f"/receipts/{latest.message_id}", headers=beside))
    page = text_of(client.get(reverse("usage_advanced")))
    tried = text_of(client.post(reverse("usage_plan"), smaller, headers=beside))
    line = text_of(client.get(reverse("usage_line", args=[latest.conversation_id])))

    for shown in (panel, page):
        assert (figures.WHY_ESTIMATED in shown) is not is_there
    for shown in (line, tried):
        assert (", estimated" in shown) is not is_there


def test_a_plan_is_saved_when_the_person_says_so_and_holds_then(sign_in: SignIn, alice: Any) -> None:
    response = sign_in(alice).post(reverse("usage_plan"), a_plan(do="save", memories=3_000))
    assert response.status_code == 302
    assert plan_for(alice, 200_000).ceilings[Section.MEMORIES] == 3_000
    assert BudgetPlan.objects.get().ceilings == {"memories": 3_000}, "what was not moved follows the preset"


@pytest.mark.parametrize(
    ("field", "typed", "sentence"),
    [
        ("history", "100", "at least 500 tokens are needed"),
        ("memories", "many", "Enter a whole number of tokens"),
        ("total", "300000", "this model takes at most 200,000"),
        ("total", "20000", "more than the total of 20,000"),
        ("preset", "huge", "No plan named “huge”"),
    ],
)
def test_what_is_wrong_stands_beside_its_field_and_nothing_is_saved(
    sign_in: SignIn, alice: Any, field: str, typed: str, sentence: str
) -> None:
    client = sign_in(alice)
    saved = client.post(reverse("usage_plan"), a_plan(do="save") | {field: typed})
    assert sentence in text_of(saved, 422)
    tried = client.post(
        reverse("usage_plan"), a_plan(do="preview") | {field: typed}, headers={"HX-Request": "true"}
    ).content.decode()
    assert sentence in tried
    if field in ("history", "memories"):
        assert re.search(rf'hx-swap-oob="innerHTML:#error-{field}">[^<]*{re.escape(sentence)}', tried)
        assert re.search(rf'name="{field}"[^>]*value="{typed}"[^>]*aria-invalid="true"', saved.content.decode())
    assert not BudgetPlan.objects.exists()


def test_a_section_with_a_share_of_what_is_left_keeps_it_until_it_is_moved(alice: Any) -> None:
    form = plan.of_preset(alice, "long", None, 200_000)
    sizes = {slider.name: slider.value for slider in form.sliders}
    kept = {f"kept_{slider.name}": slider.value for slider in form.sliders if slider.share is not None}
    assert set(kept) == {"kept_history", "kept_memories"}
    choice, _ = plan.read({"preset": "long", **sizes, **kept, "total": "100000"})
    assert (choice.total, choice.ceilings) == (
        100_000,
        {str(s): c for s, c in LONG.ceilings.items() if isinstance(c, int)},
    )
    moved, _ = plan.read({"preset": "long", **sizes, **kept, "history": "9000"})
    assert moved.ceilings["history"] == 9_000


def test_the_page_tells_the_order_in_which_parts_give_way(sign_in: SignIn, alice: Any) -> None:
    page = text_of(sign_in(alice).get(ADVANCED))
    places = [page.index(cut_reason(step.rule)) for step in PRUNING_ORDER]
    assert places == sorted(places)


def test_another_preset_fills_the_form_with_its_sizes_and_saves_nothing(sign_in: SignIn, alice: Any) -> None:
    sent = a_plan(do="preset", preset="small", history=9_999)
    response = sign_in(alice).post(reverse("usage_plan"), sent, headers={"HX-Request": "true"})
    assert re.search(r'name="history"[^>]*value="3000"', response.content.decode())
    assert not BudgetPlan.objects.exists()


def test_back_to_the_default_plan_forgets_ones_own(sign_in: SignIn, alice: Any, bob: Any) -> None:
    for user in (alice, bob):
        BudgetPlan.objects.create(user=user, preset="small")
    sign_in(alice).post(reverse("usage_plan"), {"do": "default"})
    assert list(BudgetPlan.objects.values_list("user", flat=True)) == [bob.pk]


def test_a_preset_larger_than_the_model_is_shrunk_and_not_refused(alice: Any) -> None:
    tried = plan.trial_form(alice, a_plan(), None, 32_000)
    assert (tried.errors, tried.plan and tried.plan.total) == ({}, 32_000)


def test_the_form_works_as_a_whole_page_without_javascript(sign_in: SignIn, alice: Any) -> None:
    with_memories(alice)
    page = text_of(sign_in(alice).post(reverse("usage_plan"), a_plan(do="preview", memories=2_000)))
    assert "With this budget nothing would change." in page
    assert "Memory costs" in page


# Limits --------------------------------------------------------------------------------------------------------------


def test_limits_are_set_changed_and_taken_away(sign_in: SignIn, alice: Any) -> None:
    client = sign_in(alice)
    client.post(reverse("usage_limits"), {"turns-day": "20", "money-month": "2.50", "tokens-day": ""})
    assert {(one.what, one.per): one.amount for one in Limit.objects.all()} == {
        ("turns", "day"): 20,
        ("money", "month"): Decimal("2.5"),
    }
    assert 'value="2.5"' in client.get(PAGE).content.decode()
    client.post(reverse("usage_limits"), {"turns-day": "", "money-month": "3"})
    assert [(one.what, one.amount) for one in Limit.objects.all()] == [("money", Decimal(3))]


def test_a_limit_beyond_what_staff_allow_is_refused_beside_its_field_and_none_is_set(
    sign_in: SignIn, alice: Any
) -> None:
    set_limit(alice, What.TURNS, Per.DAY, Decimal(10), by_staff=True)
    client = sign_in(alice)
    page = text_of(client.post(reverse("usage_limits"), {"turns-day": "20", "tokens-day": "5"}), 422)
    assert "The administrator&#x27;s limit is 10 turns per day." in page
    assert Limit.objects.filter(set_by_staff=False).count() == 0
    assert "Administrator's limit: 10 turns." in text_of(client.get(PAGE))


def test_a_limit_shows_how_full_it_is_and_when_it_is_free_again(sign_in: SignIn, alice: Any) -> None:
    month_of_turns(alice, 4, until=timezone.now(), days=0)
    set_limit(alice, What.TURNS, Per.DAY, Decimal(5))
    set_limit(alice, What.TURNS, Per.MONTH, Decimal(4), by_staff=True)
    page = text_of(sign_in(alice).get(PAGE))
    assert "Near limit You&#x27;ve used 4 of 5 turns today. The limit resets at midnight." in page
    assert "Limit reached You&#x27;ve used 4 of 4 turns this month." in page
    assert "Only an administrator can raise this limit." in page


# Memories ------------------------------------------------------------------------------------------------------------


def test_a_fact_that_is_not_worth_its_tokens_can_be_retired_and_brought_back(sign_in: SignIn, alice: Any) -> None:
    fact = Fact.objects.create(user=alice, statement="The user once saw a blue door.", status="active", importance=0.4)
    best = [item(f"message:{n}", Section.MEMORIES, 20, score=0.9) for n in range(3)]
    month_of_turns(alice, 10, [*best, item(fact.ref, Section.MEMORIES, 60, score=0.3)])
    client = sign_in(alice)
    assert "never among the 3 best matches (best rank 4). 600 tokens" in text_of(client.get(ADVANCED))
    assert "The user" not in text_of(client.get(ADVANCED))
    answer = client.post(reverse("retire_memory", args=[fact.pk]), follow=True)
    assert "No longer remembered: “You once saw a blue door.”" in text_of(answer)
    assert "never among the 3 best matches" not in text_of(answer), "it is not suggested again"
    fact.refresh_from_db()
    assert fact.status == "rejected"
    client.post(reverse("memory:undo", args=[ReviewAction.objects.get().pk]), {"page": "about"})
    fact.refresh_from_db()
    assert fact.status == "active"
    assert "never among the 3 best matches (best rank 4)." in text_of(client.get(ADVANCED))


def test_a_fact_that_was_decided_meanwhile_is_not_retired_again(sign_in: SignIn, alice: Any) -> None:
    fact = Fact.objects.create(user=alice, statement="The user has a cat.", status="rejected")
    answer = sign_in(alice).post(reverse("retire_memory", args=[fact.pk]), follow=True)
    assert not ReviewAction.objects.exists()
    assert 'class="notice notice-warning"' in answer.content.decode()
