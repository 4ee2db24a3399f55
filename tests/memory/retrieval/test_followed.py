"""What is marked beside the message that leads: an earlier one that answers nearly as likely, and what is corrected."""

from datetime import timedelta

import pytest

from accounts.models import User
from memory.retrieval.followed import (
    AS_LIKELY,
    CHANGED_FROM,
    FARTHER,
    OTHER_BELOW,
    SURE_FROM,
    add_followed,
    lead_with_later,
    mark_as_likely,
)
from memory.retrieval.query import parse_question
from memory.retrieval.ranking import RankedCandidate
from memory.retrieval.reading import ANSWERED_FROM, OVER_KEYED
from memory.retrieval.recall import retrieve
from memory.retrieval.truth import CURRENT, CandidateRow
from tests.memory.retrieval.test_ranking import LONG_AGO, NOW, candidate, passage
from tests.memory.retrieval.test_recall import talk

pytestmark = pytest.mark.django_db
HIVES = "Where do my hives stand?"
LEAD = ANSWERED_FROM + 2 * AS_LIKELY


def marked(
    asked: str, odds: float, *, days: int = -3, qualifier: str = CURRENT, source: str = "message", seldom: bool = False
) -> list[str]:
    """Refs of what is marked, if message 2 leads and another with these odds was said these days after it."""
    lead = RankedCandidate(passage("message:2", when=LONG_AGO, message_id=2), {}, 1, 1, is_answer=True, odds=LEAD)
    other = passage("message:1", when=LONG_AGO + timedelta(days), message_id=2 + days, source=source)
    other.seldom_leads = seldom
    ranked = [lead, RankedCandidate(other, {}, 1, 1, odds=odds)]
    found = [CandidateRow(row.candidate, None, "", "user", "", qualifier=qualifier) for row in ranked]
    mark_as_likely(ranked, found, parse_question(asked, (), NOW))
    return [row.candidate.ref for row in ranked if row.is_answer]


def test_an_earlier_message_that_is_nearly_as_likely_is_marked_too() -> None:
    assert marked(HIVES, LEAD - AS_LIKELY) == ["message:2", "message:1"]
    assert marked(HIVES, LEAD + 1) == ["message:2", "message:1"]
    assert marked(HIVES, LEAD - AS_LIKELY - 0.1) == ["message:2"]


def test_what_no_longer_holds_what_came_later_and_a_fact_are_not_marked_beside_what_leads() -> None:
    assert marked(HIVES, LEAD, qualifier="superseded by fact:1 (…)") == ["message:2"]
    assert marked(HIVES, LEAD, days=3) == ["message:2"]
    assert marked(HIVES, LEAD, source="fact") == ["message:2"]
    assert marked(HIVES, LEAD, seldom=True) == ["message:2"]


@pytest.mark.parametrize(
    "asked",
    [
        "When is the wedding?",
        "How much rent do I pay?",
        "what's my best time",
        "Who's my boyfriend?",
        "who's the cat sitter",
    ],
)
def test_where_one_has_one_of_what_is_asked_at_a_time_only_one_message_is_marked(asked: str) -> None:
    assert marked(asked, LEAD) == ["message:2"]


def test_what_the_next_message_says_is_something_else_is_marked_in_the_one_before(alice: User) -> None:
    paint = "how much paint do I need for my bedroom walls, they are 31 m2, two coats"
    talk(alice, paint, "Noted.", "sorry measured again its 37 not 31")

    kept = retrieve(alice, "How many square metres are my bedroom walls?", now=NOW, reads=True).kept

    assert [item.text for item in kept if item.source == "message"] == [
        paint.replace("31", "[changed]"), "sorry measured again its 37 not 31",
    ]  # fmt: skip


@pytest.mark.parametrize("mends", ["*Bram. autocorrect has it in for him", "Bram, I mean"])
def test_a_name_that_the_next_message_mends_is_marked_in_the_one_before(alice: User, mends: str) -> None:
    talk(alice, "My co-founder Brian does the engineering at our company.", "Noted.", mends)

    kept = retrieve(alice, "Who does the engineering at our company?", now=NOW, reads=True).kept

    assert [item.text for item in kept if item.said_by == "user"] == [
        "My co-founder [changed] does the engineering at our company.",
        mends,
    ]


def test_a_long_message_that_corrects_the_answer_comes_with_it(alice: User) -> None:
    asks = "remind me what to get for a 10th wedding anniversary? ours is the 6th of september"
    corrected = "husband just read this over my shoulder. it is NOT the 6th it is the 16th. ten years"
    long = f"{corrected} and I still get it wrong every single time, do not tell anyone else about that"
    talk(alice, asks, "Noted.", long)

    kept = retrieve(alice, "When is our wedding anniversary?", now=NOW, reads=True).kept

    assert [item.text for item in kept[:2]] == [asks.replace("6th", "[changed]"), long]


def test_what_was_said_later_of_another_attribute_follows_only_if_it_is_much_surer() -> None:
    mine = passage("message:1", "I'm a fishmonger.", when=LONG_AGO, message_id=1, own_words=True)
    sisters = passage("message:2", "My sister is a pharmacist.", when=NOW, message_id=2, own_words=True)
    lead = RankedCandidate(mine, {}, 1, 1, is_answer=True, odds=LEAD)
    other = RankedCandidate(sisters, {}, 1, 1, odds=ANSWERED_FROM)
    found = [CandidateRow(mine, 1, "", "user", ""), CandidateRow(sisters, 2, "", "user", "")]

    def follows() -> bool:
        other.follows = False
        add_followed([lead, other], found, (), None)
        return other.follows

    assert follows()
    sisters.seldom_leads = True
    assert not follows()
    other.odds = ANSWERED_FROM + OVER_KEYED
    assert follows()


def led(
    asked: str,
    later: str,
    odds: float = ANSWERED_FROM,
    *,
    earlier: str = "I shoot on a Nikon.",
    doubted: float = CHANGED_FROM,
) -> tuple[str, str]:
    """What leads of two messages, of which the earlier is surer, and the qualifier that the earlier one gets."""
    old = passage("message:1", earlier, when=LONG_AGO, message_id=1)
    new = passage("message:2", later, when=LONG_AGO + timedelta(9), message_id=2)
    ranked = [RankedCandidate(old, {}, 1, 1, is_answer=True, odds=LEAD + 9), RankedCandidate(new, {}, 1, 1, odds=odds)]
    found = [CandidateRow(row.candidate, None, "", "user", "", qualifier=CURRENT) for row in ranked]
    doubts = {(earlier, later): doubted}
    ranked = list(
        lead_with_later(ranked, found, parse_question(asked, (), NOW), lambda known, said: doubts[known, said])
    )
    return ranked[0].candidate.ref, found[0].qualifier


CAMERA = "Which camera do I use?"
CHANGED = "I'm on a Fujifilm these days."


def test_what_answers_and_changes_what_is_surer_leads() -> None:
    plain = "The Fujifilm is what I carry."
    assert led(CAMERA, plain) == ("message:2", "perhaps changed by message:2")
    assert led(CAMERA, plain, doubted=CHANGED_FROM - 0.01) == ("message:1", CURRENT)
    assert led(CAMERA, plain, ANSWERED_FROM - 0.1) == ("message:1", CURRENT)
    assert led("Which camera did I use before the Fujifilm?", plain) == ("message:1", CURRENT)


def test_what_has_no_word_of_the_question_leads_only_if_it_is_nearly_as_sure() -> None:
    needs, treat = "My cat Miso needs insulin twice a day.", "My rabbit Radish gets half a carrot now."
    assert led("Which pet needs insulin?", treat, SURE_FROM, earlier=needs)[0] == "message:1"
    assert led("Which pet needs insulin?", treat, LEAD + 9 - FARTHER + 0.1, earlier=needs)[0] == "message:2"
    assert led("Which pet needs insulin?", "Radish needs insulin now.", SURE_FROM, earlier=needs)[0] == "message:2"


def test_what_surely_answers_and_says_that_something_changed_leads() -> None:
    assert led(CAMERA, CHANGED, SURE_FROM, doubted=0)[0] == "message:2"
    assert led(CAMERA, CHANGED, SURE_FROM - 0.1, doubted=0)[0] == "message:1"


def test_a_later_day_leads_unless_it_is_clearly_of_something_else() -> None:
    asked, ours, fathers = "When is our anniversary?", "Our anniversary is June 2nd.", "My father's day is June 20th."
    assert led(asked, "we moved it to June 20th", SURE_FROM, earlier=ours, doubted=OTHER_BELOW)[0] == "message:2"
    assert led(asked, fathers, SURE_FROM, earlier=ours, doubted=OTHER_BELOW - 0.01)[0] == "message:1"


def test_a_later_day_does_not_lead_if_it_is_of_someone_else_or_has_no_word_of_what_is_asked() -> None:
    shanice, ellie = "Shanice is due on 8 August.", "new scan says Ellie's baby is due in December"
    bakery, site = "The bakery app has its first demo on 16 September.", "Lindqvist wants the site live on 10 October."
    for asked in ("When is Shanice due?", "when is shanice due?"):
        for other in (ellie, "Ellie's baby is due in December"):
            assert led(asked, other, SURE_FROM, earlier=shanice, doubted=0.5)[0] == "message:1"
    assert led("When is the bakery app demo?", site, SURE_FROM, earlier=bakery, doubted=0.5)[0] == "message:1"
    assert led("When is the bakery app demo?", "it's on 10 October", SURE_FROM, earlier=bakery, doubted=0.5)[0] == (
        "message:2"
    )


def test_what_changed_leads_before_the_fact_with_the_key_that_is_asked_for_only_if_it_is_read_so() -> None:
    def first(doubted: float) -> str:
        known = candidate("fact:1", "The user lives in Porto.", when=LONG_AGO, message_id=1, keyed_answer=1.0)
        new = passage("message:2", "Mum moved to Braga at Easter.", when=LONG_AGO + timedelta(9), message_id=2)
        ranked = [RankedCandidate(known, {}, 1, 1, odds=LEAD), RankedCandidate(new, {}, 1, 1, odds=SURE_FROM)]
        found = [CandidateRow(row.candidate, None, "", "user", "", qualifier=CURRENT) for row in ranked]
        question = parse_question("Which city do I live in?", (), NOW)
        return lead_with_later(ranked, found, question, lambda known, said: doubted)[0].candidate.ref

    assert (first(CHANGED_FROM), first(CHANGED_FROM - 0.01)) == ("message:2", "fact:1")


def test_what_users_say_of_themselves_changes_nothing_of_someone_else() -> None:
    asked, parents = "Where do my parents live?", "visiting my parents in Porto, they've lived there since May"
    moved = ("we've been living in Whitby since Easter", "they've been living in Faro since Easter")
    assert [led(asked, later, SURE_FROM, earlier=parents)[0] for later in moved] == ["message:1", "message:2"]
    assert led("Where do I live?", moved[0], SURE_FROM, earlier="I live in Leeds")[0] == "message:2"


def test_what_has_the_attribute_that_is_asked_for_leads_before_what_is_less_sure_and_has_it_not() -> None:
    def first(attribute: float) -> str:
        first_week = passage("message:1", "first week at Quarrystone", when=LONG_AGO, message_id=1, keyed_answer=0.9)
        learn = passage("message:2", "need to learn their tools", when=LONG_AGO, message_id=2, keyed_answer=attribute)
        ranked = [RankedCandidate(first_week, {}, 1, 1, odds=LEAD), RankedCandidate(learn, {}, 1, 1, odds=SURE_FROM)]
        found = [CandidateRow(row.candidate, None, "", "user", "", qualifier=CURRENT) for row in ranked]
        question = parse_question("Who do I work for?", (), NOW)
        return lead_with_later(ranked, found, question, lambda known, said: CHANGED_FROM)[0].candidate.ref

    assert (first(0.0), first(0.9)) == ("message:1", "message:2")


def test_what_the_latest_message_changes_says_so_behind_it() -> None:
    new = passage("message:2", CHANGED, when=LONG_AGO + timedelta(9), message_id=2)
    old = passage("message:1", "I shoot on a Nikon.", when=LONG_AGO, message_id=1)
    ranked = [RankedCandidate(new, {}, 1, 1, is_answer=True, odds=LEAD), RankedCandidate(old, {}, 1, 1, odds=LEAD)]
    found = [CandidateRow(row.candidate, None, "", "user", "", qualifier=CURRENT) for row in ranked]
    lead_with_later(ranked, found, parse_question(CAMERA, (), NOW), lambda known, said: CHANGED_FROM)
    assert [row.qualifier for row in found] == [CURRENT, "perhaps changed by message:2"]


def test_a_later_number_leads_unless_it_counts_something_else() -> None:
    asked, hives = "How many hives do I have?", "I keep bees, two hives."
    assert led(asked, "We have 3 hives.", earlier=hives)[0] == "message:2"
    assert led(asked, "Many jars, we have 3 hives.", SURE_FROM, earlier=f"{hives} How do I label?", doubted=0.1)[0] == (
        "message:2"
    )
    assert led(asked, "I need labels for 60 jars.", earlier="I keep bees.")[0] == "message:2"
    assert led(asked, "I need labels for 60 jars.", earlier=hives)[0] == "message:1"


def test_what_names_no_place_leads_for_no_question_where() -> None:
    asked, wedding = "Where is my brother getting married?", "My brother's wedding is on 6 September in Tarragona."
    assert led(asked, "oh wait, i misread it, the wedding is on 16 September", earlier=wedding)[0] == "message:1"
    assert led(asked, "oh wait, i misread it, the wedding is in Reus", earlier=wedding)[0] == "message:2"


def test_what_was_never_so_leads_for_no_question_about_the_past_either() -> None:
    asked, lahore = "Which city was my mum born in?", "My mother was born in Lahore."
    assert led(asked, "Sorry, I misspoke. My mother was born in Multan.", earlier=lahore)[0] == "message:2"
    assert led(asked, "My mother lives in Multan now.", earlier=lahore)[0] == "message:1"
