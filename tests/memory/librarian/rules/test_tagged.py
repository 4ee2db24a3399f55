"""What marks in a message become: facts with their keys. The marks are given here."""

from dataclasses import replace
from datetime import date

import pytest

from memory.librarian.engine import ProposedFact
from memory.librarian.rules import tagged
from memory.librarian.rules.retell import People, related
from memory.librarian.tagger.marked import read_marked
from memory.models.kinds import Kind

TODAY = date(2026, 11, 21)
MONTH = "November 2026"


def marked(line: str, *, sure: float = 1.0, people: People | None = None) -> list[tagged.Marked]:
    """The marks of a line of marked text, each as sure as that."""
    message = read_marked(line)
    text, tags = message.pieces.text, [replace(tag, sure=sure) for tag in message.tags]
    return list(tagged.marked(text, text, tags, people or People(), MONTH))


def proposed(line: str, *told: ProposedFact, sure: float = 1.0) -> list[str]:
    """statement | key=value"""
    facts, _ = tagged.proposals(marked(line, sure=sure), told, 1, TODAY)
    return [f"{fact.statement} | {fact.key}={fact.value}" if fact.key else fact.statement for fact in facts]


def test_an_animal_in_a_sentence_without_the_user_is_asked_about() -> None:
    told, mine = (
        tagged.proposals(marked(line), (), 1, TODAY)[0][0].confidence
        for line in ("next door have a [pet:terrier]", "a [pet:terrier] is asleep on my foot")
    )
    assert (told, mine) == (tagged.ASK, tagged.SURE)


@pytest.mark.parametrize(
    ("line", "statements"),
    [
        ("took an apartment up in [home:duluth] and it is COLD", ["The user lives in Duluth. | user/home=Duluth"]),
        ("I stay in [home:Pune], near [home:Kothrud] side", ["The user lives in Pune. | user/home=Pune"]),
        ("From today I'm a [job:driving instructor]!",
         ["The user works as a driving instructor. | user/job=driving instructor"]),
        ("I earn [age:61],500 a year", []),
        ("I worked as a [job:croupier] in Batumi", []),
        ("my son is in year [*age:5] at Ashfield", []),
        ("I'm on route [age:50] now", []),
        ("my wife is [*age:7] months pregnant", []),
        ("what do you wear to an interview? it's for [job:shift manager]", []),
        ("I'm Captain Barnabas and you're my [pet:parrot]", []),
        ("it's our only [car:car] so it has to do the school run", []),
        ("The [pet:Kangoo] swallows both amps, I'm in heaven", []),
        ("We're three: me, [*name:Samira] who runs sales, and Gregor", []),
        ("we lived in [home:Batumi] for years", []),
        ("The house is sold! We move to [home:Kinsale] on 3 April", []),
        ("happier since moving to [home:Kinsale] with the dog",
         ["The user lives in Kinsale. | user/home=Kinsale"]),
        ("we've lived in [home:Batumi] for years", ["The user lives in Batumi. | user/home=Batumi"]),
        ("I am in fact [age:71].", ["The user was 71 years old in November 2026. | user/age=71"]),
        ("my big day is [birthday:12 august]",
         ["The user's birthday is 12 August. | user/birthday=12 August"]),
        ("Been with [partner:imogen] for months, the new girlfriend",
         ["The user's girlfriend is called Imogen. | user/partner=Imogen"]),
        ("there's a rescue [pet:greyhound] called [*name:Olive] asleep on my feet",
         ["The user has a pet greyhound called Olive. | user/pet:greyhound=yes"]),
        ("I don't know how to pronounce [allergy:penicillin], nor how you spell [home:Reykjavik]", []),
        ("living with my [pet:rats] named [name:Ash], [name:Bo] and [name:Cy]",
         ["The user has pet rats called Ash, Bo and Cy. | user/pet:rats=yes"]),
        ("We keep two [pet:budgies] in the kitchen", ["The user has pet budgies. | user/pet:budgies=yes"]),
        ("our [pet:spaniel Biscuit] ate a sock", ["The user has a pet spaniel called Biscuit. | user/pet:spaniel=yes"]),
        ("my only animal is a [pet:budgie], Kevin, so relax",
         ["The user has a pet budgie called Kevin. | user/pet:budgie=yes"]),
        ("my ex [partner:Goran] picks up the kids", []),
        ("the surgery is set for [birthday:14 April]", []),
        ("i drive [job:a school] bus", []),
        ("back from [origin:Oaxaca], so add Mexico to my list", []),
        ("my countries so far: [origin:Laos], Georgia, Peru", []),
        ("I'm from [origin:Peru]", ["The user is from Peru. | user/origin=Peru"]),
        ("the boiler is a [car:Worcester Greenstar], 2014", []),
        ("its a [car:Hisense] from 2019", []),
        ("drive a [car:Fiesta], 2009", ["The user drives a Fiesta. | user/car=Fiesta"]),
        ("i've missed every christmas since i was [age:22]", []),
        ("Starting my own shop, name is [name:Ledger]", []),
        ("my firm, [name:Ledger] & Lark", []),
        ("I teach [job:year] 4 in Leeds", []),
        ("i own a small boat called [name:Marisol] and a caravan", []),
        ("we went with the [name:Nihola] in the end", []),
        ("my daughter goes to a nursery called [*name:Bølgen]", []),
        ("I'm called [name:Marisol]", ["The user's name is Marisol. | user/name=Marisol"]),
        ("we own a house in [home:Umbria]", []),
        ("not from [origin:Spain], not a student", []),
        ("not a fan of [likes:open offices]", []),
        ("I prefer trains to [likes:planes]", []),
        ("I'm in [employer:the supermarket] now", []),
        ("I work in [employer:the supermarket] now",
         ["The user works at the supermarket. | user/employer=the supermarket"]),
        ("I moved to Hamburg for [employer:the new post].", []),
        ("our boiler engineer kids [*name:Milo] and [*name:Ada] came along", []),
        ("the [pet:poodle] is our old dog's best friend", ["The user has a pet poodle. | user/pet:poodle=yes"]),
        ("Me and Marta have been there for [employer:ages]", []),
        ("I'm with [employer:acme] in berlin", ["The user works at Acme. | user/employer=Acme"]),
        ("I [plays:sing] on sundays", ["One of the user's pastimes is singing. | user/pastime:singing=yes"]),
        ("keeping [allergy:latex] and [allergy:walnuts] away from me",
         ["The user is allergic to latex. | user/allergy:latex=yes",
          "The user is allergic to walnuts. | user/allergy:walnuts=yes"]),
        ("my sister has been in [*home:Filey] since May",
         ["The user's sister lives in Filey. | user/sister/home=Filey"]),
        ("Shanelle's birthday is the [birthday:14th of august], I forgot", []),
        ("We took up [plays:fencing]", ["One of the user's pastimes is fencing. | user/pastime:fencing=yes"]),
        ("my dad swears by [*likes:bluegrass]", ["The user's dad likes bluegrass. | user/dad/taste:bluegrass=likes"]),
        ("not in [-home:Lublin] any more, I [~job:quit]", []),
        ("I [plays:swim] here", ["One of the user's pastimes is swimming. | user/pastime:swimming=yes"]),
        ("my surname is [name:Okafor-Reid] since the wedding",
         ["The user's surname is Okafor-Reid. | user/surname=Okafor-Reid"]),
        ("My sister is in Perth and her husband is a [*job:geologist]", []),
        ("I have type [age:1] diabetes", []),
        ("I speak [origin:Dutch] at home", []),
        ("The boat's name is [partner:Sandpiper] now", []),
        ("My wife's name is [partner:Helen]", ["The user's wife is called Helen. | user/partner=Helen"]),
        ("we're [job:4 backend] devs", []),
        ("now [job:head] of supply chain at a firm in Toulouse",
         ["The user works as a head of supply chain. | user/job=head of supply chain"]),
        ("can't bear the [dislikes:smell] of lavender, so which plants",
         ["The user dislikes smell of lavender. | user/taste:smell_of_lavender=dislikes"]),
        ("I prefer [likes:dishes] that stand in the oven",
         ["The user likes dishes that stand in the oven. | user/taste:dishes_that_stand_in_the_oven=likes"]),
        ("it's loud [likes:and] cold", []),
        ("i turn [age:29] in november", []),
        ("I start as a [job:driver] at [employer:BVG] in May", []),
        ("We live on a boat in the [home:marina]", []),
        ("Mio is the daughter of my son Kenji, she is [*age:13]", []),
        ("my old flat was gone so I'm renting near [home:Tennoji]", []),
        ("Results are in. [diet:Coeliac], confirmed.",
         ["The user has Coeliac disease. | user/condition:coeliac_disease=Coeliac disease"]),
        ("Locum vet here, Northern [home:Territory].",
         ["The user lives in Northern Territory. | user/home=Northern Territory"]),
        ("african grey, [*age:6] yrs old, called Professor", []),
        ("my brother and i run a [job:small bakery]",
         ["The user runs a small bakery. | user/job=small bakery"]),
        ("My sister [*plays:runs] a nail bar", []),
        ("My sister [*plays:runs]",
         ["One of the user's sister's pastimes is running. | user/sister/pastime:running=yes"]),
        ("The [pet:cat] is Pixel, ok?", ["The user has a pet cat called Pixel. | user/pet:cat=yes"]),
        ("a coat for our rescue, [pet:Noodle], skin and bones",
         ["The user has a pet called Noodle. | user/pet:noodle=yes"]),
        ("The vet says he's a [*age:15] yr old [*pet:tortie]", []),
    ],
)  # fmt: skip
def test_a_mark_becomes_a_statement_with_its_key(line: str, statements: list[str]) -> None:
    assert proposed(line) == statements


def test_a_mark_that_is_hardly_sure_asks_and_one_that_is_not_says_nothing() -> None:
    line = "I'm in [home:Ghent] now"
    (sure,), _ = tagged.proposals(marked(line, sure=0.95), (), 1, TODAY)
    (asked,), _ = tagged.proposals(marked(line, sure=0.65), (), 1, TODAY)
    (hedged,), _ = tagged.proposals(marked("I think my sister is in [*home:Porto]"), (), 1, TODAY)
    assert [one.confidence for one in (sure, asked, hedged)] == [tagged.SURE, tagged.ASK, tagged.ASK]
    assert proposed(line, sure=0.55) == []


def test_what_the_table_read_of_the_same_key_stays_and_what_has_no_key_is_replaced() -> None:
    fact = tagged.proposals(marked("I'm in [home:Ghent] now"), (), 1, TODAY)[0][0]
    by_table = fact.model_copy(update={"statement": "The user lives in Ghent, Belgium.", "value": "Ghent, Belgium"})
    doubted = fact.model_copy(update={"confidence": 0.7})
    in_own_words = fact.model_copy(update={"statement": "The user is in Ghent now.", "attribute": "", "value": ""})

    assert tagged.proposals(marked("I'm in [home:Ghent] now"), [by_table], 1, TODAY) == ([], [])
    new, replaced = tagged.proposals(marked("I'm in [home:Ghent] now"), [doubted], 1, TODAY)
    assert ([one.confidence for one in new], replaced) == ([tagged.SURE], [doubted])  # both read the same
    new, replaced = tagged.proposals(marked("I'm in [home:Ghent] now"), [in_own_words], 1, TODAY)
    assert ([one.key for one in new], replaced) == (["user/home"], [in_own_words])


def test_what_says_more_than_a_mark_stays_beside_it_or_is_its_statement() -> None:
    dog = tagged.proposals(marked("my [pet:whippet] is 3"), (), 1, TODAY)[0][0]
    more = dog.model_copy(update={"statement": "Whippet, 3, eats socks.", "attribute": "", "kind": Kind.FACT})
    home = tagged.proposals(marked("I'm in [home:Swansea]"), (), 1, TODAY)[0][0]
    above = {"statement": "The user lives above their takeaway in Swansea.", "attribute": ""}

    new, replaced = tagged.proposals(marked("[pet:Whippet], 3, eats socks"), [more], 1, TODAY)
    assert ([one.key for one in new], replaced) == (["user/pet:whippet"], [])
    new, _ = tagged.proposals(
        marked("we live above my takeaway in [home:Swansea]"), [home.model_copy(update=above)], 1, TODAY
    )
    assert [(one.statement, one.key) for one in new] == [(above["statement"], "user/home")]


def test_what_is_not_eaten_is_told_once() -> None:
    (diet,) = tagged.proposals(marked("I'm [diet:coeliac]"), (), 1, TODAY)[0]
    said = {"statement": "The user is coeliac.", "attribute": "condition:coeliac", "value": "yes"}
    coeliac = diet.model_copy(update=said)
    assert tagged.proposals(marked("I'm [diet:coeliac]"), [coeliac], 1, TODAY) == ([], [])


def test_a_pastime_keeps_the_users_words_and_gets_a_key() -> None:
    plays = tagged.proposals(marked("I [plays:row] for Bath"), (), 1, TODAY)[0][0]
    own = plays.model_copy(update={"statement": "The user is rowing for Bath.", "attribute": "", "value": ""})

    new, replaced = tagged.proposals(marked("I'm [plays:rowing] for Bath"), [own], 1, TODAY)

    assert [(one.statement, one.key) for one in new] == [("The user is rowing for Bath.", "user/pastime:rowing")]
    assert replaced == [own]


def test_a_name_that_another_statement_tells_is_not_told_again() -> None:
    told = tagged.proposals(marked("my sister Nora has been in [*home:Oslo] for years"), (), 1, TODAY)[0]
    assert tagged.proposals(marked("my sister [*name:Nora] rang"), told, 1, TODAY) == ([], [])


def test_a_new_value_is_a_correction_if_the_words_say_that_it_is_new() -> None:
    def corrects(line: str) -> bool:
        return tagged.proposals(marked(line), (), 1, TODAY)[0][0].correction

    assert corrects("it's [home:Ghent] these days")
    assert corrects("I swear it's [study:biochemistry]! It was [-study:chemistry] in my head.")
    assert not corrects("I live in [home:Ghent]")


def test_someone_named_before_is_whom_she_means() -> None:
    people = People([related("sister", "Mary")])
    facts, _ = tagged.proposals(marked("she's [*job:head of platform] as of today", people=people), (), 1, TODAY)
    assert [(fact.statement, fact.about_third_party) for fact in facts] == [
        ("The user's sister Mary works as a head of platform.", True)
    ]


def test_of_two_values_in_a_sentence_the_clearly_surer_is_the_one() -> None:
    message = read_marked("I'm at 3 [home:Weka] Street in [home:Greymouth] now")
    text, (street, town) = message.pieces.text, message.tags
    tags = [replace(street, sure=0.7), replace(town, sure=0.9)]
    assert [mark.value for mark in tagged.marked(text, text, tags, People(), MONTH)] == ["Greymouth"]


def test_who_was_named_in_another_sentence_is_not_whom_a_name_belongs_to() -> None:
    people = People([related("wife", "Grete")])
    assert not marked("three girls, [*name:Lia], [*name:Edda] and Jule", people=people)


def test_an_animal_of_an_animal_is_the_users() -> None:
    (mark,) = marked("Oh, and my dog, he's a [*pet:beagle] really")
    assert mark.subject.key == "user"
