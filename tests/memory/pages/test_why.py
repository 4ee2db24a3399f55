"""Why was this recalled, or left out? One receipt's item in plain words, from the answer and from the fact."""

from collections.abc import Callable
from typing import Any, get_args

import pytest
from django.test import Client

from accounts.models import User
from budget.planning.fit import PRUNING_ORDER
from budget.receipts import memory_use
from chat.models import Conversation
from memory.models import Fact
from memory.pages.search import PARTS
from memory.pages.why import ALWAYS, OPENING, RULE_WORDS, explain_recall
from memory.retrieval.ranking import Part, Rule
from tests.memory.pages.test_fact_page import ATTACK, answer, item, know, receipt, say

type SignIn = Callable[[User], Client]


def page_of(client: Client, message_id: int, ref: str) -> str:
    response = client.get(f"/memory/why/{message_id}/{ref}")
    assert response.status_code == 200
    return response.content.decode()


def test_the_parts_of_a_score_are_told_in_plain_words(alice: User, sign_in: SignIn) -> None:
    fact, better = know(alice, "The user sings in a choir."), know(alice, "The user likes Bach.")
    told = receipt(answer(say(alice, "When do I sing?")), item(better, score=0.8), item(fact))

    page = page_of(sign_in(alice), told.message_id, fact.ref)

    assert "Why was this recalled?" in page
    assert "When do I sing?" in page
    assert "Sent for this answer" in page
    assert "Ranked 2 of 2, with a score of 60%." in page
    assert PARTS["semantic"] in page
    assert (
        page.index(">54%</td>")
        < page.index(">46%</td>")
        < page.index("Technical details")
        < page.index("Ranked 2 of 2")
    )


def test_what_was_left_out_names_its_rule_and_what_found_room_instead(alice: User, sign_in: SignIn) -> None:
    fact, better = know(alice, "The user sings in a choir."), know(alice, "The user likes Bach.")
    told = receipt(answer(say(alice, "When do I sing?")), item(better, score=0.8), item(fact, kept=False, score=0.3))

    page = page_of(sign_in(alice), told.message_id, fact.ref)

    assert "Why was this left out?" in page
    assert RULE_WORDS["beyond top-K"] in page
    assert "others matched better" in page
    assert "Ranked 2 of 2, with a score of 30%. The lowest score included was 80%." in page


def test_the_answers_panel_and_the_facts_page_lead_there(alice: User, sign_in: SignIn) -> None:
    fact = know(alice, "The user sings in a choir.")
    told = receipt(answer(say(alice, "When do I sing?")), item(fact))
    client, address = sign_in(alice), f'href="/memory/why/{told.message_id}/{fact.ref}"'

    assert address in client.get(f"/memory/facts/{fact.pk}").content.decode()
    assert address in client.get(f"/receipts/{told.message_id}").content.decode()


def test_a_line_of_the_profile_has_an_explanation_though_its_name_has_slashes(alice: User, sign_in: SignIn) -> None:
    line = item(
        know(alice, "x"), ref="document:/profile/identity:3", section="profile", label="I sing.", parts={}, score=None
    )
    told = receipt(answer(say(alice)), line)

    page = page_of(sign_in(alice), told.message_id, "document:/profile/identity:3")

    assert "I sing." in page
    assert ALWAYS in page
    assert ">Reasons</h2>" not in page


def test_nothing_of_it_is_markup(alice: User, sign_in: SignIn) -> None:
    fact = know(alice, ATTACK)
    told = receipt(answer(say(alice, ATTACK)), item(fact, parts={"semantic": 0.1, ATTACK: 0.2}))
    page = page_of(sign_in(alice), told.message_id, fact.ref)
    assert "<script>alert" not in page
    assert "<img" not in page


@pytest.mark.parametrize("ref", ["fact:999", "nonsense", "document:/a/b:1"])
def test_a_memory_that_the_receipt_does_not_name_is_not_explained(alice: User, sign_in: SignIn, ref: str) -> None:
    told = receipt(answer(say(alice)), item(know(alice, "x")))
    assert sign_in(alice).get(f"/memory/why/{told.message_id}/{ref}").status_code == 404


def test_others_and_deleted_conversations_are_not_there(alice: User, bob: User, sign_in: SignIn) -> None:
    fact = know(alice, "The user sings in a choir.")
    told = receipt(answer(say(alice)), item(fact))
    address = f"/memory/why/{told.message_id}/{fact.ref}"
    assert sign_in(bob).get(address).status_code == 404
    Conversation.objects.update(deleted_at=told.created_at)
    assert sign_in(alice).get(address).status_code == 404
    assert memory_use.prompts_with(alice, fact.ref) == []


def test_the_receipts_of_a_memory_are_found_in_one_statement_each(alice: User, django_assert_num_queries: Any) -> None:
    fact = know(alice, "The user sings in a choir.")
    for n in range(5):
        receipt(answer(say(alice, f"{n}?")), item(fact), item(know(alice, f"{n}")))

    with django_assert_num_queries(2):
        found, counted = memory_use.prompts_with(alice, fact.ref), memory_use.tally(alice, fact.ref)

    assert [one.question for one in found] == ["4?", "3?", "2?", "1?", "0?"]
    assert (counted.kept, counted.cut) == (5, 0)


# The words, pure -------------------------------------------------------------------------------------------------


def test_every_rule_and_every_part_has_words() -> None:
    assert set(get_args(Rule)) <= set(RULE_WORDS)
    assert set(get_args(Part)) == set(PARTS)


@pytest.mark.parametrize("step", PRUNING_ORDER, ids=lambda step: str(step.section))
def test_a_rule_of_the_budget_is_told_as_a_full_prompt(step: Any) -> None:
    explained = explain_recall(item(Fact(pk=1, statement="x"), kept=False, rule=step.rule), 3, 9, 0.7)
    assert explained.because == "There was no room left."
    assert not explained.kept


def test_what_opened_a_conversation_was_not_searched_for() -> None:
    explained = explain_recall(item(Fact(pk=1, statement="x"), parts={"opening": 1.0, "importance": 0.9}), 1, 4, 0.5)
    assert explained.because == OPENING["fact"]
    assert explained.place == ""
