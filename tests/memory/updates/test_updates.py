"""What a later message does to a known fact, in words that the network has not seen."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from memory.librarian.changes import learned
from memory.librarian.changes.corrections import Change, Correction
from memory.librarian.changes.learned import with_changes
from memory.librarian.engine import KnownFact
from memory.models.kinds import Kind
from memory.ports.source import Utterance
from memory.retrieval.followed import CHANGED_FROM
from memory.updates.labeled import judge, read_labeled
from memory.updates.pairs import Outcome, Pair, Update, pair_of, read
from memory.updates.talks import read_talks

DATA = Path(__file__).parents[1] / "data"
EARLIER, NOW = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 9, 1, tzinfo=UTC)


def known(number: int, statement: str) -> KnownFact:
    return KnownFact(number, statement, Kind.FACT, "", "", 0.9, "active", statement, EARLIER, number)


def said(text: str) -> Utterance:
    return Utterance(9, 1, "user", text, NOW)


def changes(text: str, *statements: str, before: tuple[Correction, ...] = ()) -> list[tuple[int, Change, str]]:
    """What the message changes of these facts, all of which are near to it."""
    facts = [known(number, statement) for number, statement in enumerate(statements, 1)]
    found = with_changes(said(text), before, facts, dict.fromkeys(range(1, len(facts) + 1), 0.5))
    return [(one.fact.fact_id, one.change, one.value) for one in found]


def test_most_of_what_people_change_in_passing_is_found() -> None:
    talks = read_talks((DATA / "updates_dev.talk").read_text("utf-8"))[:6]
    pairs = [pair for talk in talks for one in talk for pair in one.labeled(Random(1))]

    score = judge(pairs, [read(pair.pair) for pair in pairs], learned.ASK_FROM)

    assert score.found >= 0.5 * (score.found + score.missed)
    assert score.found >= 0.6 * (score.found + score.wrong)


def test_most_of_what_changes_without_a_word_that_says_so_is_found() -> None:
    pairs = [read_labeled(line) for line in (DATA / "updates_later_unseen.tsv").read_text("utf-8").splitlines()]

    score = judge(pairs, [read(pair.pair) for pair in pairs], CHANGED_FROM)

    assert score.found >= 0.4 * (score.found + score.missed)
    assert score.found >= 0.7 * (score.found + score.wrong)


PLAIN = {
    "The user works at Acme.": ["I quit my job today", "I'm my own boss since March, self-employed and happy"],
    "The user's dog is called Biscuit.": ["Biscuit died on Sunday."],
    "The user's sister is a doctor.": ["I misspoke, I don't have a sister", "my sister retrained as a baker"],
    "The user has two rabbits, Flip and Flop.": ["we gave the rabbits to my niece"],
    "The user plays the cello.": ["Scratch that, I don't play the cello"],
    "The user's partner is called Ines.": ["Ines and I broke up", "Ines and I are no longer together"],
    "The user is vegan.": ["I eat cheese again these days"],
    "The user lives in Nantes.": ["We moved to Lyon last month"],
    "Tom lives in Porto.": ["Tom has moved to Faro with the kids"],
    "The user is allergic to walnuts.": ["there's no walnut allergy, the test was clear"],
    "The user's physio is called Runa.": ["I've found a new physio, Dr. Sand, closer to home"],
    "The user works as a clerk.": ["they've made me office manager!"],
    "The user is pescatarian.": ["I've become vegan since Easter"],
    "The user plans to walk the Camino.": ["change of plans: no Camino this year"],
    "The user was 41 years old in March 2025.": ["big day today im 42 haha"],
    "The user's surname is Holt.": ["I've taken my married surname, Okoro"],
    "The user uses Evernote for recipes.": ["moved all my recipes over to Paprika"],
}
"""Facts, and plain messages that change them."""


def test_most_plain_words_change_or_question_the_fact_they_are_about() -> None:
    told = [changes(message, fact) for fact, messages in PLAIN.items() for message in messages]
    assert sum(bool(one) for one in told) >= 0.7 * len(told)


@pytest.mark.parametrize(
    ("fact", "message", "change", "value"),
    [
        ("The user lives in Leeds.", "we sold up in Leeds and moved to Whitby", Change.REPLACE, "Whitby"),
        ("The user works at Acme.", "handed my badge in at Acme, three weeks of nothing ahead", Change.END, ""),
        ("The user has a dog called Rex.", "Rex died on sunday, the vet was kind", Change.END, ""),
        ("The user's boss is Ivan.", "my boss is Helga now", Change.REPLACE, "Helga"),
        ("Leila's birthday is 3 September.", "Leila's birthday is on 4 September now", Change.REPLACE, "4 September"),
    ],
)
def test_a_fact_is_changed_in_whatever_words(fact: str, message: str, change: Change, value: str) -> None:
    assert changes(message, fact) == [(1, change, value)]


@pytest.mark.parametrize(
    ("fact", "message"),
    [
        ("The user lives in Leeds.", "my sister moved to Whitby, what could I give her?"),
        ("The user lives in Leeds.", "what is the weather like in Whitby in May?"),
        ("The user has a dog called Rex.", "Write a story in which a dog called Rex dies."),
        ("The user plays the cello.", "how do I rehair a cello bow"),
        ("The user takes the train to work.", "train to the office was packed again today"),
        ("The user works night shifts at a warehouse.", "again no sleep. i'm on nights, remember, at the warehouse"),
        ("Leila's birthday is 3 September.", "Sami's birthday is on 22 November now, not in December"),
        ("The user's birthday is 3 September.", "Sami's birthday is on 22 November now, not in December"),
        ("The user lives in Newcastle.", "the Newcastle I live in is the one in Australia, not the English one."),
    ],
)
def test_what_leaves_a_fact_as_it_is_changes_nothing(fact: str, message: str) -> None:
    assert changes(message, fact) == []


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> dict[str, Update]:
    """What the network says of each fact; it holds if nothing is set."""
    told: dict[str, Update] = {}
    monkeypatch.setattr(learned, "read", lambda pair: told.get(pair.fact, Update("holds", 1.0)))
    return told


def replaced(old: str, new: str, sure: float) -> Update:
    return Update("replaced", sure, old, new, doubted=sure)


def test_a_new_place_takes_that_of_the_old_one_whatever_words_are_marked(outcomes: dict[str, Update]) -> None:
    outcomes["The user is opening a second shop, in Brixton."] = replaced("second", "Deptford", 0.97)
    shop = known(1, next(iter(outcomes)))
    lease = said("signed the lease, the second shop is going to be in Deptford")
    (found,) = with_changes(lease, (), [shop], {1: 0.5})
    assert (found.change, found.old, found.value) == (Change.REPLACE, "Brixton", "Deptford")


def test_what_is_given_up_is_what_changes(outcomes: dict[str, Update]) -> None:
    outcomes["The user does mostly frontend with Svelte."] = replaced("Svelte", "FastAPI", 0.97)
    outcomes["The user's backend at work is Django."] = replaced("Django", "FastAPI", 0.9)
    found = changes("we've migrated to FastAPI at work now, so forget Django", *outcomes)
    assert found == [(2, Change.REPLACE, "FastAPI")]


def test_another_allergy_takes_the_place_of_none_that_is_not_denied(outcomes: dict[str, Update]) -> None:
    penicillin = replace(known(1, "The user is allergic to penicillin."), key="user/allergy:penicillin", value="yes")
    outcomes[penicillin.statement] = replaced("penicillin", "tetanus", 0.97)
    note = said("write a note: tetanus 2019, and im allergic to penicillin")
    assert not list(with_changes(note, (), [penicillin], {1: 0.5}))
    assert list(with_changes(said("it's tetanus, I'm not allergic to penicillin"), (), [penicillin], {1: 0.5}))


def test_a_firm_takes_the_place_of_no_work_and_a_weekday_of_no_month(outcomes: dict[str, Update]) -> None:
    outcomes["The user works as an Elektriker."] = replaced("Elektriker", "Jürgen Brandt Elektro", 0.97)
    outcomes["The user's book club reads Middlemarch in August 2026."] = replaced("August 2026", "Friday", 0.97)
    assert changes("since june i have my own firm, Jürgen Brandt Elektro", *outcomes) == []


def test_of_a_day_or_a_name_all_of_it_is_replaced(outcomes: dict[str, Update]) -> None:
    outcomes["The user's exam is on Sunday, 14 March 2027."] = replaced("14 March", "4", 0.97)
    assert changes("the whole cohort sits the exam on 4 April", *outcomes) == [
        (1, Change.REPLACE, "Saturday, 4 April 2026")
    ]
    school = known(1, "Leo goes to St Mark's primary.")
    outcomes[school.statement] = replaced("St", "Fairfield High", 0.97)
    (other,) = with_changes(said("Leo started at Fairfield High"), (), [school], {1: 1})
    assert (other.old, other.value) == ("St Mark's", "Fairfield High")


def test_the_place_of_something_else_is_asked_about(outcomes: dict[str, Update]) -> None:
    outcomes["The user's dissertation is on peat bogs in Connacht."] = replaced("Connacht", "Clew Bay", 0.97)
    assert changes("new dissertation title: oyster reefs in Clew Bay", *outcomes) == [(1, Change.ASK, "")]
    assert changes("it's on peat bogs in Clew Bay now", *outcomes) == [(1, Change.REPLACE, "Clew Bay")]


def test_words_of_several_facts_are_replaced_only_in_those_of_who_is_named(outcomes: dict[str, Update]) -> None:
    kiki, lolo = "The user's parrot is called Kiki.", "The user's parrot is called Lolo."
    outcomes[kiki], outcomes[lolo] = replaced("parrot", "canary", 0.9), replaced("parrot", "canary", 0.97)
    assert changes("turns out Lolo is a canary", kiki, lolo) == [(2, Change.REPLACE, "canary")]


def test_one_new_value_replaces_one_fact(outcomes: dict[str, Update]) -> None:
    outcomes["The user decided on Redis for the quota service."] = replaced("Redis", "DynamoDB", 0.97)
    outcomes["The user's laptop is a ThinkPad."] = replaced("ThinkPad", "DynamoDB", 0.9)
    assert changes("redis is out, we go with DynamoDB", *outcomes) == [(1, Change.REPLACE, "DynamoDB")]


def test_a_new_name_is_that_of_every_fact_about_its_bearer(outcomes: dict[str, Update]) -> None:
    outcomes["The user's cat is called Duchess."] = replaced("Duchess", "Mochka", 0.97)
    outcomes["The user's cat Duchess hides in boxes."] = replaced("Duchess", "Mochka", 0.9)
    found = changes("we renamed the cat Mochka", *outcomes)
    assert found == [(1, Change.REPLACE, "Mochka"), (2, Change.REPLACE, "Mochka")]


def test_what_would_be_said_twice_in_the_new_statement_ends_the_old_one(outcomes: dict[str, Update]) -> None:
    outcomes["The user prefers an aisle seat on planes."] = replaced("planes", "window seat", 0.97)
    assert changes("I prefer a window seat", *outcomes) == [(1, Change.END, "")]


def test_what_a_contrast_has_told_already_is_not_read_into_another_fact(outcomes: dict[str, Update]) -> None:
    outcomes["The user's exam is on Tuesday."] = replaced("Tuesday", "Initech", 0.95)
    contrast = Correction(known(7, "The user works at Acme."), Change.REPLACE, "not Acme but Initech", 1, "Initech")
    assert changes("not Acme but Initech", *outcomes, before=(contrast,)) == [(7, Change.REPLACE, "Initech")]


@pytest.mark.parametrize(
    ("outcome", "doubted", "change"),
    [("ended", 0.9, Change.END), ("wrong", 0.9, Change.ASK), ("ended", 0.6, Change.ASK), ("ended", 0.4, None)],
)
def test_how_sure_the_network_is_decides_whether_review_asks(
    outcomes: dict[str, Update], outcome: Outcome, doubted: float, change: Change | None
) -> None:
    outcomes["The user has a boat."] = Update(outcome, doubted, doubted=doubted)
    assert changes("the boat, well", *outcomes) == ([(1, change, "")] if change else [])


@pytest.mark.parametrize(
    ("outcome", "doubted", "nearness", "change"),
    [
        ("ended", 0.9, 0.22, Change.ASK),
        ("ended", 0.9, 0.27, Change.END),
        ("wrong", 0.97, 0.3, Change.ASK),
        ("wrong", 0.9, 0.7, Change.ASK),
        ("wrong", 0.97, 0.4, Change.RETRACT),
    ],
)
def test_review_asks_of_a_fact_that_is_barely_near_to_the_message(
    outcomes: dict[str, Update], outcome: Outcome, doubted: float, nearness: float, change: Change
) -> None:
    outcomes["The user has a boat."] = Update(outcome, doubted, doubted=doubted)
    (found,) = with_changes(said("there was never a boat"), (), [known(1, "The user has a boat.")], {1: nearness})
    assert found.change is change


@pytest.mark.parametrize(("nearness", "change"), [(0.5, Change.ASK), (0.29, None)])
def test_a_fact_of_which_a_message_has_no_word_is_at_most_asked_about(
    outcomes: dict[str, Update], nearness: float, change: Change | None
) -> None:
    outcomes["The user works at Acme."] = Update("ended", 0.99, doubted=0.99)
    found = with_changes(said("I didn't get the job"), (), [known(1, "The user works at Acme.")], {1: nearness})
    assert [one.change for one in found] == ([change] if change else [])


def test_another_value_beside_a_word_of_the_attribute_is_said_of_the_fact(outcomes: dict[str, Update]) -> None:
    outcomes["The user lives in Leeds."] = replaced("Leeds", "Whitby", 0.97)
    home = replace(known(1, "The user lives in Leeds."), key="user/home", value="Leeds")
    (found,) = with_changes(said("so we moved, it's Whitby"), (), [home], {1: 0.3})
    assert (found.change, found.value) == (Change.REPLACE, "Whitby")


def test_what_is_denied_of_one_thing_changes_nothing_of_another(outcomes: dict[str, Update]) -> None:
    outcomes["The user is allergic to cashews."] = Update("ended", 0.98, doubted=0.98)
    nuts = replace(known(1, "The user is allergic to cashews."), key="user/allergy:cashews", value="yes")
    text = "I'm not allergic to kiwi any more! The cashews ones stay."
    assert list(with_changes(said(text), (), [nuts], {1: 0.6})) == []


@pytest.mark.parametrize(
    "text", ["sorry, correction: his wife is called Helen", "sorry, correction: it's Helen, not Ellen"]
)
def test_the_wife_of_another_or_another_name_corrected_changes_no_name_of_the_users_partner(
    outcomes: dict[str, Update], text: str
) -> None:
    outcomes["The user's girlfriend is called Priya."] = replaced("Priya", "Helen", 0.97)
    girlfriend = replace(known(1, "The user's girlfriend is called Priya."), key="user/partner", value="Priya")
    assert not list(with_changes(said(text), (), [girlfriend], {1: 0.6}))
    assert list(with_changes(said("my new girlfriend is called Helen"), (), [girlfriend], {1: 0.6}))


def test_another_of_the_same_name_changes_nothing_of_the_first(outcomes: dict[str, Update]) -> None:
    outcomes["The user's aunt Rosa lives in Trieste."] = replaced("Trieste", "Malmö", 0.97)
    aunt = replace(known(1, "The user's aunt Rosa lives in Trieste."), key="rosa/home", value="Trieste")
    assert not list(with_changes(said("Rosa from nursery has moved to Malmö"), (), [aunt], {1: 0.6}))
    assert not list(with_changes(said("Another Rosa I know is in Malmö now"), (), [aunt], {1: 0.6}))
    assert list(with_changes(said("Rosa has moved to Malmö"), (), [aunt], {1: 0.6}))
    outcomes["The user's colleague Rosa lives in Trieste."] = replaced("Trieste", "Malmö", 0.97)
    colleague = replace(aunt, statement="The user's colleague Rosa lives in Trieste.")
    assert list(with_changes(said("Rosa from work has moved to Malmö"), (), [colleague], {1: 0.6}))


def test_a_surname_replaces_no_first_name(outcomes: dict[str, Update]) -> None:
    outcomes["The user's name is Siobhán."] = replaced("Siobhán", "Mac", 0.97)
    name = replace(known(1, "The user's name is Siobhán."), key="user/name", value="Siobhán")
    assert not list(with_changes(said("and the surname is Mac Giolla"), (), [name], {1: 0.6}))
    assert list(with_changes(said("I go by Mac now"), (), [name], {1: 0.6}))


def test_words_of_the_old_value_replace_nothing(outcomes: dict[str, Update]) -> None:
    outcomes["The user is left-handed."] = replaced("left-handed", "left", 0.97)
    assert changes("i am left handed so mirror it please", "The user is left-handed.") == []


def test_a_new_name_is_taken_whole(outcomes: dict[str, Update]) -> None:
    outcomes["The user is going to Oaxaca."] = replaced("Oaxaca", "Hoi", 0.97)
    outcomes["The user's physio is Runa."] = replaced("Runa", "Dr", 0.97)
    found = changes("we're going to Hoi An instead, and I've found a new physio, Dr. Sand", *outcomes)
    assert [value for _, _, value in found] == ["Hoi An", "Dr. Sand"]


def test_a_name_does_not_take_the_place_of_a_thing(outcomes: dict[str, Update]) -> None:
    outcomes["Radu hates buzzwords."] = replaced("buzzwords", "Philippa", 0.97)
    fact = replace(known(1, "Radu hates buzzwords."), key="radu/taste:buzzwords", value="dislikes")
    assert list(with_changes(said("Radu left, my new boss is Philippa"), (), [fact], {1: 0.5})) == []


def test_what_the_words_return_to_is_not_doubted(outcomes: dict[str, Update]) -> None:
    phone = known(1, "The user has an iPhone.")
    outcomes["The user has an iPhone."] = Update("ended", 0.9, doubted=0.9)
    assert not list(with_changes(said("sold it, I've gone back to an iPhone"), (), [phone], {1: 0.6}))
    assert list(with_changes(said("sold it, never again an iPhone"), (), [phone], {1: 0.6}))


def test_a_value_of_another_kind_puts_nothing_in_doubt(outcomes: dict[str, Update]) -> None:
    choice = known(1, "The user is trying to decide between a heat pump and a gas boiler.")
    outcomes[choice.statement] = replaced("gas", "7,400", 0.97)
    assert not list(with_changes(said("the heat pump came in at 7,400, still undecided"), (), [choice], {1: 0.6}))


def test_a_food_that_is_left_out_replaces_no_diet(outcomes: dict[str, Update]) -> None:
    vegetarian = replace(known(1, "The user is vegetarian."), key="user/diet")
    outcomes["The user is vegetarian."] = replaced("vegetarian", "gluten-free", 0.97)
    assert not list(with_changes(said("as well as vegetarian I'm gluten-free now"), (), [vegetarian], {1: 0.6}))


def test_anothers_name_does_not_take_the_place_of_the_users(outcomes: dict[str, Update]) -> None:
    outcomes["The user's name is Olu."] = replaced("Olu", "Greta", 0.97)
    fact = replace(known(1, "The user's name is Olu."), key="user/name", value="Olu")
    for text in (
        "I've hired someone, her name is Greta",
        "her name's Greta, she's not bad",
        "Henk's left, the new boss is a woman called Greta",
        "We named the baby Greta",
    ):
        assert list(with_changes(said(text), (), [fact], {1: 0.5})) == []
    assert len(list(with_changes(said("My name is Greta now"), (), [fact], {1: 0.5}))) == 1
    assert len(list(with_changes(said("It's Greta I'm called, not Olu"), (), [fact], {1: 0.5}))) == 1


def test_a_fact_that_is_far_from_the_message_is_not_read(outcomes: dict[str, Update]) -> None:
    outcomes["The user has a boat."] = Update("ended", 0.99, doubted=0.99)
    assert list(with_changes(said("so tired today"), (), [known(1, "The user has a boat.")], {1: 0.1})) == []


# Lines it learns from ------------------------------------------------------------------------------------------------


def test_a_pair_has_its_words_marked() -> None:
    pair = read_labeled("replaced\tThe user lives in [Leeds].\tthe lease is up, so it's {Whitby} for me")
    assert (pair.pair.fact, pair.pair.message) == ("The user lives in Leeds.", "the lease is up, so it's Whitby for me")
    assert (pair.old, pair.new, pair.updated) == ("Leeds", "Whitby", "The user lives in Whitby.")
    for line in (
        "gone\tThe user has a cat.\tno",
        "replaced\tThe user has a cat.\tno",
        "ended\tThe user has a [cat].\tno",
    ):
        with pytest.raises(ValueError, match=r"no outcome|Marks"):
            read_labeled(line)


def test_a_talk_carries_what_is_known_from_message_to_message() -> None:
    (talk,) = read_talks(
        "person: Ada\nfact: The user lives in Leeds.\nfact: The user has a cat.\nmessage: off to Whitby for good\n"
        "replaced: The user lives in [Leeds]. => Whitby\nmessage: gave the cat to Jo\nended: The user has a cat.\n"
        "message: hi\n"
    )
    assert [one.facts for one in talk] == [
        ["The user lives in Leeds.", "The user has a cat."],
        ["The user lives in Whitby.", "The user has a cat."],
        ["The user lives in Whitby."],
    ]
    assert [pair.outcome for one in talk for pair in one.changed] == ["replaced", "ended"]
    for wrong in ("fact: x\nhello: y", "fact: x.\nmessage: m\nended: y.", "fact: x.\nmessage: m\nreplaced: [x]. => z"):
        with pytest.raises(ValueError, match=r"line|known|words"):
            read_talks(f"person: Ada\n{wrong}")


def test_a_message_of_a_talk_is_changed_by_a_later_one_in_its_own_words() -> None:
    (talk,) = read_talks(
        "person: Ada\nsaid: we fly on the 3rd, what do I pack\nsaid: the 5th now, cheaper\n"
        "replaced: we fly on the [3rd], what do I pack => 5th\nmessage: not remembered\nsaid: we're grounded, flu\n"
        "ended: the 5th now, cheaper\nsaid: tea with honey?\n"
    )
    assert [one.earlier for one in talk] == [
        [],
        ["we fly on the 3rd, what do I pack"],
        ["the 5th now, cheaper"],
        ["the 5th now, cheaper"],
        ["we're grounded, flu"],
    ]
    assert [(pair.outcome, pair.pair.fact) for one in talk for pair in one.changed] == [
        ("replaced", "we fly on the 3rd, what do I pack"),
        ("ended", "the 5th now, cheaper"),
    ]


def test_messages_that_hold_are_learned_as_such_and_those_that_state_nothing_are_not() -> None:
    (talk,) = read_talks("person: Ada\nsaid: we fly to Rome on the 3rd\nsaid: thanks!\nsaid: my cat is ill\n")
    pairs = [(pair.outcome, pair.pair.fact) for pair in talk[-1].labeled(Random(1))]
    assert pairs == [("holds", "we fly to Rome on the 3rd")]


def test_a_long_fact_and_a_long_message_are_cut() -> None:
    pair: Pair = pair_of("The user has a cat. " * 40, "so tired " * 200)
    assert len(pair.ids) < 160
    assert pair_of("The user has a cat. " * 80, "so tired " * 400).ids == pair.ids


def test_news_of_one_who_is_named_changes_no_one_elses_fact() -> None:
    facts = ("The user's brother Ali lives in Izmir.", "The user's sister Elif lives in Bursa.")
    found = changes("Ali's in Ankara now, and Elif had a baby", *facts)
    assert [(fact, value) for fact, _, value in found if value] == [(1, "Ankara")]


def test_what_is_spoken_of_as_it_is_called_is_not_replaced() -> None:
    girl = "The user has a little girl, Lotte."
    assert not [one for one in changes("Actually Lotte's daycare is called De Speelberg", girl) if one[2]]


def test_the_first_word_of_a_new_value_alone_replaces_nothing() -> None:
    found = changes("Wim quit teaching, he's at an insurance company now", "The user's husband Wim teaches maths.")
    assert not [value for _, _, value in found if "insurance" in value]


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("The user's wife is called Carla.", "we've been married 15 years"),
        ("The user is going to Puglia.", "I quite like olives when they're the green ones from Puglia"),
        ("The user works at the port of Genoa.", "my phone number changed, it's 347 555 0182"),
    ],
)
def test_what_cannot_be_is_at_most_asked_about(statement: str, text: str) -> None:
    assert not [one for one in changes(text, statement) if one[1] is not Change.ASK]


def test_of_a_date_the_whole_is_replaced(outcomes: dict[str, Update]) -> None:
    fact = known(1, "The user flies to Crete in June 2027.")
    outcomes[fact.statement] = Update("replaced", 0.95, "2027", "September", 0.95)
    (found,) = with_changes(said("the flight to Crete is in September now"), (), [fact], {1: 0.6})
    assert (found.old, found.value) == ("June 2027", "September")


def test_a_place_takes_no_friends_place() -> None:
    podcast = "The user does a podcast with their mate Dev about cricket."
    assert not changes("Dev moved to Perth so we've wrapped up Silly Point. 61 episodes", podcast)


def test_a_day_that_is_shifted_takes_its_hour_along(outcomes: dict[str, Update]) -> None:
    fact = known(1, "The user has a root canal on 12 June 2027 at 9:15.")
    outcomes[fact.statement] = Update("replaced", 0.95, "12 June 2027", "26 June", 0.95)
    (found,) = with_changes(said("my root canal is on 26 June at 14:40 now"), (), [fact], {1: 0.6})
    assert (found.old, found.value) == ("12 June 2027 at 9:15", "26 June at 14:40")
    (found,) = with_changes(said("my root canal is on 26 June now"), (), [fact], {1: 0.6})
    assert (found.old, found.value) == ("12 June 2027", "26 June")


def test_what_someone_does_instead_takes_no_nouns_place(outcomes: dict[str, Update]) -> None:
    fact = known(1, "The user does aikido every Tuesday.")
    outcomes[fact.statement] = Update("replaced", 0.95, "aikido", "swim three mornings a week", 0.95)
    (found,) = with_changes(said("no aikido, I swim three mornings a week now"), (), [fact], {1: 0.8})
    assert found.change is Change.END


def test_an_age_takes_no_hours_place(outcomes: dict[str, Update]) -> None:
    fact = known(1, "Max has swimming on tuesdays at 4:30.")
    outcomes[fact.statement] = Update("replaced", 0.95, "4:30", "9", 0.95)
    assert not list(with_changes(said("no, Max is 9 now, it was his birthday"), (), [fact], {1: 0.6}))
    assert list(with_changes(said("Max has swimming at 9 now"), (), [fact], {1: 0.6}))


def test_who_marries_a_partner_has_no_partner_less(outcomes: dict[str, Update]) -> None:
    partner = replace(known(1, "The user's girlfriend is called Noemi."), key="user/partner", value="Noemi")
    outcomes[partner.statement] = Update("ended", 0.95, "Noemi", "", 0.95)
    assert not list(with_changes(said("Noemi and I got married on Saturday!!"), (), [partner], {1: 0.6}))
    assert list(with_changes(said("Noemi and I are done, she moved to Leeds."), (), [partner], {1: 0.6}))


@pytest.mark.parametrize(("minutes", "change"), [(1, Change.REPLACE), (60 * 24, Change.ASK)])
def test_a_correction_right_after_means_what_was_said_before_it(minutes: int, change: Change) -> None:
    son = replace(known(1, "The user's son was 8 years old in November 2026."), key="user/son/age", value="8")
    mended = replace(
        said("sorry, hes 9, i missed my own kids birthday"), said_at=son.said_at + timedelta(minutes=minutes)
    )
    assert [one.change for one in with_changes(mended, (), [son], {1: 0.4})] == [change]


@pytest.mark.parametrize(
    ("text", "value"),
    [("typo up there, it's 340", "340"), ("how about it's 340", None), ("sorry, the dentist wants 340", None)],
)
def test_what_mends_the_message_right_before_it_is_read_however_far(text: str, value: str | None) -> None:
    budget = replace(known(1, "The flower budget for the Brightwells is 430."), message_id=4)
    mending = replace(said(text), said_at=budget.said_at + timedelta(minutes=1))
    assert [one.value for one in with_changes(mending, (), [budget], {})] == ([value] if value else [])
    assert not list(with_changes(said(text), (), [budget], {}))


def test_the_network_changes_nothing_on_a_list(outcomes: dict[str, Update]) -> None:
    statement = "On the user's shopping list are oat milk and bread."
    outcomes[statement] = replaced("oat milk", "capers", 0.97)
    shopping = replace(known(1, statement), key="user/list:shopping", value="oat milk, bread")
    assert list(with_changes(said("and capers, we have oat milk"), (), [shopping], {1: 0.6})) == []
