"""What the rule engine reads in a message, and what it leaves alone."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.facts.keys import USER
from memory.librarian.engine import ExtractionInput, KnownFact, ProposedFact
from memory.librarian.rules.clauses import clauses_of, sentences
from memory.librarian.rules.engine import RuleEngine
from memory.librarian.rules.judged import ASK
from memory.librarian.rules.statement import finished
from memory.models.kinds import Kind
from memory.ports.source import Utterance
from memory.text.language import is_english

SATURDAY = datetime(2026, 11, 21, 10, tzinfo=UTC)
LISBON = ZoneInfo("Europe/Lisbon")


def read(*texts: str, reply: str = "") -> list[ProposedFact]:
    """What the engine proposes for messages of a user; `reply`: what the assistant says before the last."""
    said = [Utterance(n, 2 * n, "user", text, SATURDAY) for n, text in enumerate(texts, start=1)]
    if reply:
        said.insert(-1, Utterance(99, 2 * len(texts) - 1, "assistant", reply, SATURDAY))
    return [fact.normalized() for fact in RuleEngine().extract(ExtractionInput(said, "Alice", LISBON)).facts]


def in_short(fact: ProposedFact) -> str:
    """statement | key=value"""
    return f"{fact.statement} | {fact.key}={fact.value}" if fact.key else fact.statement


READ: list[tuple[str, list[str]]] = [
    # home
    ("I live in Ghent with my dog Otto.", ["The user lives in Ghent. | user/home=Ghent",
                                           "The user's dog is called Otto. | user/dog/name=Otto"]),
    ("i live in porto and work as a nurse", ["The user lives in Porto. | user/home=Porto",
                                             "The user works as a nurse. | user/job=nurse"]),
    ("We moved to Lyon last month, any tips for finding a dentist?", ["The user lives in Lyon. | user/home=Lyon"]),
    ("I'm originally from Cork", ["The user is from Cork. | user/origin=Cork"]),
    ("I've lived in Basel since 2019.", ["The user lives in Basel. | user/home=Basel"]),
    # work and study
    ("I work at Siemens as a welder.", ["The user works at Siemens. | user/employer=Siemens",
                                        "The user works as a welder. | user/job=welder"]),
    ("I'm a primary school teacher.", ["The user is a primary school teacher. | user/job=primary school teacher"]),
    ("I'm a caretaker now.", ["The user is a caretaker. | user/job=caretaker"]),
    ("I found work as a cook", ["The user works as a cook. | user/job=cook"]),
    ("I'm back at Nokia", ["The user works at Nokia. | user/employer=Nokia"]),
    ("I've just started training as a paramedic",
     ["The user is training as a paramedic. | user/job=trainee paramedic"]),
    ("finally started as a tiler in May", ["The user works as a tiler. | user/job=tiler"]),
    ("im a paralegal, long hours, quick dinners pls", ["The user is a paralegal. | user/job=paralegal"]),
    ("I work at the town library, mostly mornings.",
     ["The user works at the town library. | user/employer=the town library"]),
    ("From 2011 to 2014 I lived in Graz.",
     ["The user used to live in Graz from 2011 to 2014. | user/home=Graz"]),
    ("My new flat is in Turku", ["The user lives in Turku. | user/home=Turku"]),
    ("I'm studying law in Leiden", ["The user is studying law in Leiden. | user/studies=law in Leiden"]),
    # names and age
    ("Hello, I'm Ottilie. How do I start a blog?", ["The user's name is Ottilie. | user/name=Ottilie"]),
    ("please call me Dr. Sato", ["The user wants to be called Dr. Sato. | user/preferred_name=Dr. Sato"]),
    ("I'm forty-four and bored.", ["The user was forty-four years old in November 2026. | user/age=forty-four"]),
    # people
    ("My sister Nora lives in Oslo.", ["The user's sister Nora lives in Oslo. | nora/home=Oslo"]),
    ("My boss is called Viktor.", ["The user's boss is called Viktor. | user/boss/name=Viktor"]),
    ("My brother's name is Tom. He works at Bosch.",
     ["The user's brother Tom works at Bosch. | tom/employer=Bosch"]),
    ("What could I cook for my aunt Vera?", ["The user's aunt is called Vera."]),
    ("My wife Ana and I live in Lisbon.", ["The user's wife is called Ana. | user/partner=Ana",
                                           "The user lives in Lisbon. | user/home=Lisbon"]),
    ("we got a kitten, his name is Pim", ["The user got a kitten.",
                                         "The user's kitten is called Pim. | user/kitten/name=Pim"]),
    ("We adopted a cat. Her name is Minnow and she bites.",
     ["The user adopted a cat.", "The user's cat is called Minnow. | user/cat/name=Minnow",
      "The user's cat Minnow bites."]),
    ("my cousin's daughter is called Mirela", ["The user's cousin's daughter is called Mirela."]),
    ("My dad is retired.", ["The user's dad is retired. | user/dad/job=retired"]),
    # food and health
    ("I'm allergic to peanuts and kiwi.", ["The user is allergic to peanuts. | user/allergy:peanuts=yes",
                                           "The user is allergic to kiwi. | user/allergy:kiwi=yes"]),
    ("i dont eat liver sorry", ["The user does not eat or drink liver. | user/diet:liver=no"]),
    ("I'm nearly 30", []),
    ("I'm single mum to two boys", ["The user is single mum to two boys."]),
    ("my cholesterol's 6.8 so gimme a lighter version pls", ["The user's cholesterol is 6.8."]),
    ("I don't eat pork.", ["The user does not eat or drink pork. | user/diet:pork=no"]),
    ("I'm vegan, what can I bake?", ["The user is vegan. | user/diet=vegan"]),
    ("I've gone veggie, what can I bake?", ["The user is veggie. | user/diet=veggie"]),
    ("I'm gluten free, what can I bake?", ["The user is gluten-free. | user/diet:gluten=no"]),
    ("I have type 1 diabetes", ["The user has type 1 diabetes. | user/condition:type_1_diabetes=yes"]),
    # tastes
    ("My favourite colour is green.", ["The user's favourite colour is green. | user/favourite_colour=green"]),
    ("asking because oolong is my favourite tea now",
     ["The user's favourite tea is oolong. | user/favourite_tea=oolong"]),
    ("I love jazz but I can't stand opera.", ["The user loves jazz. | user/taste:jazz=likes",
                                              "The user dislikes opera. | user/taste:opera=dislikes"]),
    ("I hate coriander myself, tastes of soap",
     ["The user dislikes coriander. | user/taste:coriander=dislikes"]),
    # in their own words
    ("I broke my wrist yesterday", ["The user broke their wrist on Friday, 20 November 2026."]),
    ("On weekdays I cycle to work.", ["The user cycles to work on weekdays. | user/pastime:cycling=yes"]),
    ("We've decided to sell the boat.", ["The user has decided to sell the boat."]),
    ("I have a dentist appointment next Thursday",
     ["The user has a dentist appointment on Thursday, 26 November 2026."]),
    ("Me and my husband run a guesthouse in Crete", ["The user runs a guesthouse in Crete."]),
    ("I teach year 6 at Saint Brannoc so nothing babyish",
     ["The user works at Saint Brannoc. | user/employer=Saint Brannoc"]),
    ("I'm an archivist and I earn 3850 a month before tax. Is a raise of 4% worth a fight?",
     ["The user is an archivist. | user/job=archivist", "The user earns 3850 a month before tax."]),
    ("So that lasted eight months. I'm pescatarian now. Their cat caught a mackerel.",
     ["The user is pescatarian. | user/diet=pescatarian"]),
    ("I work as a sommelier in a hotel in Edinburgh", ["The user works as a sommelier. | user/job=sommelier",
                                                       "The user works in a hotel in Edinburgh."]),
    ("I'm a poet and carpenter", ["The user works as a carpenter. | user/job=carpenter"]),
    ("My mate Bob drives a lorry and gets home at 3", ["The user's mate Bob drives a lorry. | bob/job=drives a lorry",
                                                       "The user's mate Bob gets home at 3."]),
    ("my sister teaches maths", ["The user's sister teaches maths. | user/sister/job=teaches maths"]),
    ("they ask for a 'nearest airport'. I live in Puerto Varas, so which one?",
     ["The user lives in Puerto Varas. | user/home=Puerto Varas"]),
    ("I'm muslim", ["The user is muslim."]),
    ("can't stand olives", ["The user dislikes olives. | user/taste:olives=dislikes"]),
    ("Gareth at work is leaving after thirty years", ["Gareth at work is leaving after thirty years."]),
    ("My thesis (history, part time) is due in June", ["The user's thesis is due in June 2027."]),
    ("is it normal that tap water tastes of chlorine? only noticed since i moved to hobart",
     ["The user lives in Hobart. | user/home=Hobart"]),
    ("Small correction: Leo is 10, had his birthday on Sunday", []),
    ("I'm a history student", ["The user studies history. | user/studies=history"]),
    ("I keep kosher and the hotel only serves “sausages”.", ["The user keeps kosher."]),
    # terse notes
    ("kids: Noor (7), Sami (4)", ["The user's child is called Noor.",
                                  "The user's child Noor was 7 years old in November 2026. | noor/age=7",
                                  "The user's child is called Sami.",
                                  "The user's child Sami was 4 years old in November 2026. | sami/age=4"]),
    ("allergic: penicillin, latex", ["The user is allergic to penicillin. | user/allergy:penicillin=yes",
                                     "The user is allergic to latex. | user/allergy:latex=yes"]),
    ("Children: Adaeze (9, Primary 4), Kosi (6)", ["The user's child is called Adaeze.",
                                                   "The user's child Adaeze was 9 years old in November 2026."
                                                   " | adaeze/age=9",
                                                   "The user's child is called Kosi.",
                                                   "The user's child Kosi was 6 years old in November 2026."
                                                   " | kosi/age=6"]),
    ("Allergies: Kosi – groundnut", []),
    ("dentist = dr Halloran, knee guy = Mr Osei", ["The user's dentist is called Dr Halloran."
                                                   " | user/dentist/name=Dr Halloran",
                                                   "The user's knee guy is Mr Osei."]),
    ("reminder: gp = Dr Osei", ["The user's gp is called Dr Osei. | user/gp/name=Dr Osei"]),
    ("job: plumber - part-time", ["The user works as a plumber. | user/job=plumber"]),
    ("Nadia = PO", []),
    ("Husband: Patrick Oduya (works nights)", ["The user's husband is called Patrick Oduya."
                                               " | user/partner=Patrick Oduya"]),
    ("my mother in law Zofia lives in Gdynia", ["The user's mother-in-law is called Zofia."
                                                " | user/mother_in_law/name=Zofia",
                                                "The user's mother-in-law Zofia lives in Gdynia."
                                                " | zofia/home=Gdynia"]),
    ("job: plumber; home: Turin; diet: vegan", ["The user works as a plumber. | user/job=plumber",
                                                "The user lives in Turin. | user/home=Turin",
                                                "The user follows this diet: vegan. | user/diet=vegan"]),
    ("I'm back living in Osaka since last week!", ["The user lives in Osaka. | user/home=Osaka"]),
    ("we're based near Kalamata", ["The user lives near Kalamata. | user/home=Kalamata"]),
    ("34, nurse, two kids", ["The user was 34 years old in November 2026. | user/age=34",
                             "The user is a nurse. | user/job=nurse", "The user has two kids."]),
    # orders
    ("From now on, keep your answers short.", ["The user wants short answers. | user/answer_length=short"]),
    ("I want long answers from you with every step", ["The user wants long answers. | user/answer_length=long"]),
    ("I want short answers to these three questions", []),
    ("I'd rather get short answers, no bullet points please.", ["The user wants short answers, no bullet points."
                                                              " | user/answer_length=short"]),
    ("My address is Calle Sorolla 14, how do I write it?", ["The user's address is Calle Sorolla 14."
                                                           " | user/address=Calle Sorolla 14"]),
    ("Please always answer in German.", ["The user wants answers in German. | user/answer_language=german"]),
    ("I'd like bullet points in your answers, always.", ["The user wants answers in bullet points."
                                                         " | user/answer_format=bullet points"]),
    ("And I prefer bullet points from you.", ["The user wants answers in bullet points."
                                              " | user/answer_format=bullet points"]),
    ("So write my recipes in grams from here on, please", ["The user wants recipes in grams."
                                                           " | user/units:weight=grams"]),
    ("Heights in feet, please.", ["The user wants heights in feet. | user/units=feet"]),
    ("All recipes in cups for me, thanks.", ["The user wants recipes in cups. | user/units:weight=cups"]),
    ("Recipes in cups annoy my sister.", []),
    ("Can you put this in bullet points?", []),
    ("I'd like tables for the terrace.", []),
    ("Never use emojis.", ["The user wants the assistant never to use emojis."]),
]  # fmt: skip
"""Ordinary sentences, and what they say."""


@pytest.mark.parametrize(("text", "said"), READ, ids=[text for text, _ in READ])
def test_an_ordinary_sentence_says(text: str, said: list[str]) -> None:
    assert sorted(map(in_short, read(text))) == sorted(
        one.replace("=german", "=German") if "answer_language" in one else one for one in said
    )


@pytest.mark.parametrize(
    "text",
    [
        "What is my landlord's name?",
        "Do I live in Lyon?",
        "If I lived in Rome, what would rent cost me?",
        "Suppose I'm a nurse with two kids.",
        "Pretend I'm a pilot called Max.",
        "My character lives in Oslo and hates geese.",
        "Translate into French: My brother is a doctor.",
        "Check the grammar: I have been living in Berlin since five years.",
        "Complete the dialogue: Anna: I work at a bank.",
        "Create a persona: Maria, 34, nurse, two kids",
        "For the sake of argument, I'm vegan.",
        "The lyrics go I left my wife in Tulsa",
        "She wrote “I live in Bonn and I love cats”.",
        "My colleague says I'm lazy.",
        "I'm tired today.",
        "I have a question about this.",
        "I don't live in Nantes any more.",
        "I no longer work at Acme.",
        "I have no children.",
        "A baby girl called Ada was born next door.",
        "I have a question about my order",
        "I want a recipe with chickpeas",
        "How do people who hate their jobs get up?",
        "Ich wohne in Graz und bin Lehrerin.",
        "J'habite à Lyon et je suis végétarien.",
        "```\nI live in Rome\n```",
        "My wifi password is hunter22, I live in it.",
    ],
)
def test_what_is_no_claim_gives_nothing_to_keep(text: str) -> None:
    assert [
        fact.statement for fact in read(text) if fact.statement != "The user told something that is never stored."
    ] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I live in Utrecht, work from home mostly", "Utrecht"),
        ("I live in Lyon -.", "Lyon"),
        ("I live in Turin!!! lol", "Turin"),
        ("I live in Bath (the one in Somerset)", "Bath"),
        ("I live in Rio de Janeiro because of my job", "Rio de Janeiro"),
        ("I live in Portland, Oregon these days", "Portland, Oregon"),
        ("i live in leeds btw", "Leeds"),
    ],
)
def test_a_value_ends_where_it_ends(text: str, value: str) -> None:
    home = next(fact for fact in read(text) if fact.key == "user/home")
    assert (home.value, home.statement) == (value, f"The user lives in {value}.")


def test_a_role_play_lasts_until_it_is_ended() -> None:
    said = read(
        "lets do a roleplay, you're the ship's computer",
        "Computer, I live on Titan and my wife is called Zelda.",
        "OK, game over. I live in Cork.",
    )
    assert [fact.statement for fact in said] == ["The user lives in Cork."]


def test_whom_a_name_belongs_to_is_not_guessed() -> None:
    assert not [
        one for one in read("Our neighbour had a baby girl called Ada.") if one.statement.endswith("is called Ada.")
    ]


@pytest.mark.parametrize("word", ["No", "What", "who", "Friday", "nothing"])
def test_a_common_word_is_never_a_name(word: str) -> None:
    assert not [
        fact for fact in read(f"my landlord {word} is here", f"my sister is called {word}") if word in fact.value
    ]


def test_what_was_true_has_an_end_and_the_key_of_what_it_ends() -> None:
    (fact,) = read("I lived in Nantes until 2020.")
    assert (fact.statement, fact.key) == ("The user used to live in Nantes until 2020.", "user/home")
    assert fact.valid_until is not None
    assert fact.valid_until.year == 2020


def test_another_value_replaces_what_was_said_last() -> None:
    *_, fact = read("I live in Nantes.", "Actually it's Lyon")
    assert (fact.statement, fact.key, fact.value, fact.correction) == (
        "The user lives in Lyon.",
        "user/home",
        "Lyon",
        True,
    )


def test_a_move_is_a_correction() -> None:
    assert [(fact.key, fact.value, fact.correction) for fact in read("I moved to Lyon")] == [
        ("user/home", "Lyon", True)
    ]


def test_flags_say_whose_and_what_a_claim_is() -> None:
    assert [fact.about_third_party for fact in read("My sister Nora lives in Oslo.")] == [True]
    assert [fact.health for fact in read("I'm allergic to nuts.")] == [True]
    assert [fact.addressed_to_assistant for fact in read("Never use emojis.")] == [True]
    assert [fact.reported for fact in read("My doctor says I'm allergic to penicillin.")] == [True]
    assert all(fact.confidence < 0.8 for fact in read("I think my sister lives in Porto."))


@given(st.lists(st.sampled_from([text for text, _ in READ]), max_size=3), st.text(max_size=60))
def test_statements_are_whole_sentences_with_verbatim_quotes(texts: list[str], noise: str) -> None:
    text = f"{noise}\n".join(texts) + noise
    for fact in read(text):
        assert fact.quote in text
        assert fact.statement[0].isupper()
        assert fact.statement.endswith(".")
        assert fact.statement.count("(") == fact.statement.count(")")
        assert "?" not in fact.statement
        assert fact.subject
        assert fact.about_third_party or fact.subject == USER or "/" in fact.subject or fact.kind.value == "entity"


def test_it_reads_english_only() -> None:
    assert is_english("I live in Graz and my wife is called Ana")
    assert not is_english("Ich wohne in Graz und meine Frau heißt Ana")
    assert not is_english("私は東京に住んでいます")


def test_she_is_whom_one_of_the_last_two_messages_named() -> None:
    *_, fact = read("My sister Eva lives in Ostrava.", "Nice weather today", "She moved to Olomouc last week.")
    assert in_short(fact) == "The user's sister Eva lives in Olomouc. | eva/home=Olomouc"
    told = read("My sister Eva lives in Ostrava.", "Nice weather today", "Rain again", "She moved to Olomouc.")
    assert [one.value for one in told] == ["Ostrava"]


def test_she_is_also_who_is_known_and_was_just_named_in_a_request() -> None:
    texts = "Write a congratulations card for Noor", "She moved to Olomouc last week."
    said = [Utterance(n, 2 * n, "user", text, SATURDAY) for n, text in enumerate(texts, start=1)]
    reading = ExtractionInput(said, "Alice", LISBON, waiting=["The user's sister Noor is a welder."])
    (fact,) = RuleEngine().extract(reading).facts
    assert fact.statement == "The user's sister Noor lives in Olomouc."


def test_who_waits_in_review_is_known_by_name() -> None:
    said = [Utterance(1, 1, "user", "Petr is allergic to walnuts", SATURDAY)]
    reading = ExtractionInput(said, "Alice", LISBON, waiting=["The user's husband Petr cooks."])
    (fact,) = RuleEngine().extract(reading).facts
    assert fact.statement == "The user's husband Petr is allergic to walnuts."


def test_a_chapter_of_ones_life_is_no_chapter_of_a_book() -> None:
    (fact,) = read("I lived in Nantes until 2020, that chapter is over.")
    assert fact.statement == "The user used to live in Nantes until 2020."
    assert read("Chapter two: I lived in Nantes until 2020.") == []


@pytest.mark.parametrize("opening", ["Actually", "Actually,", "Well,", "Oh", "Sorry,", "Luckily,", "Today", "Honestly"])
def test_a_word_that_only_opens_a_sentence_is_no_ones_name(opening: str) -> None:
    told = [in_short(fact) for fact in read(f"{opening} my sister lives in Madrid now")]
    assert told == ["The user's sister lives in Madrid. | user/sister/home=Madrid"]


def test_a_name_that_opens_a_sentence_is_one_where_its_words_say_so() -> None:
    for said in ("Mary, my sister, lives in Lisbon.", "Mary, my sister.", "Mary is my sister."):
        assert any("Mary" in fact.statement for fact in read(said))


def test_someone_the_user_has_is_whom_the_next_words_mean() -> None:
    said = [in_short(fact) for fact in read("My husband Olu sails.", "We have a son, Emeka, he works at Nokia")]
    assert "The user's son Emeka works at Nokia. | emeka/employer=Nokia" in said
    assert not [line for line in said if "Olu works" in line]


def test_a_statement_ends_before_a_clause_that_has_no_verb() -> None:
    statements = [fact.statement for fact in read("We moved up from Kent when Piet, that's my boss, got the new post.")]
    assert not [one for one in statements if one.endswith("when Piet.")]


def test_an_animal_that_is_known_by_name_is_not_noted_again() -> None:
    assert "The user has a cat. | user/pet:cat=yes" in [in_short(fact) for fact in read("what does my cat need?")]
    known = read("My cat is called Nori.", "what does my cat need?")
    assert "The user has a cat." not in [fact.statement for fact in known]


def test_a_flat_is_shifted_where_english_says_so() -> None:
    (fact,) = [one for one in read("We shifted to Chennai in May") if one.key == "user/home"]
    assert (fact.value, fact.correction) == ("Chennai", True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("honestly I don't enjoy opera anymore, too long for me", "The user dislikes opera."),
        ("i really enjoy the opera, seen Carmen three times", "The user has seen Carmen three times."),
        ("I'm off dairy for a month", "The user is off dairy for a month."),
        ("no longer with KPN since August", "The user is no longer with KPN since August."),
        ("Btw I'm turning 40 in May", "The user is turning 40 in May 2027."),
    ],
)
def test_an_end_an_abstinence_and_what_is_to_come_are_not_their_opposite(text: str, said: str) -> None:
    statements = [fact.statement for fact in read(text)]
    assert said in statements
    assert not [one for one in statements if re.search("anymore|diet|has a longer|40 years old", one)]


def test_what_is_said_in_brackets_is_of_the_name_before_them() -> None:
    texts = ["Our dog Bess is a border collie.", "We've got two lads, Martin (he's in Leeds, works there) and Steve"]
    assert_says(texts, "son is called Martin", "Bess is in")


def test_a_child_named_before_a_cat_is_no_pet() -> None:
    assert not [fact for fact in read("we've got two kids, Bram and Lotte, and a cat") if "pet is" in fact.statement]


@pytest.mark.parametrize(
    "text",
    ["my sister has three children: Ada, Ben and Cleo", "She has two kids, Bram and Lotte",
     "our neighbours have two sons, Tim and Tom"],
)  # fmt: skip
def test_the_children_of_others_are_not_the_users(text: str) -> None:
    assert not [fact for fact in read(text) if "is called" in fact.statement]


def test_ones_own_children_are_each_called_by_name() -> None:
    said = [fact.statement for fact in read("I have three kids: Ada, Ben and Cleo")]
    assert {f"The user's child is called {name}." for name in ("Ada", "Ben", "Cleo")} <= {*said}


def test_a_girl_of_ones_own_is_a_daughter() -> None:
    said = [fact.statement for fact in read("my husband Eivind is a joiner, and we have two girls, Signe and Liv")]
    assert {"The user's daughter is called Signe.", "The user's daughter is called Liv."} <= {*said}


def test_work_is_no_employer() -> None:
    assert [fact.attribute for fact in read("moved to Madrid for work.")] == ["home"]


def test_children_listed_with_their_ages_each_have_one_and_get_older() -> None:
    kids, birthday = "we've got two kids, Ella who's 11 and Max who's 8", "no, Max is 9 now, it was his birthday"
    ages = [(fact.key, fact.value) for fact in read(kids, birthday) if fact.attribute == "age"]
    assert ages == [("ella/age", "11"), ("max/age", "8"), ("max/age", "9")]


def test_a_pastime_in_a_sentence_without_the_user_is_asked_about() -> None:
    (swimming,) = read("max has swimming on tuesdays at 5", "bad news, swimming moved to wednesdays at 4:30")[1:]
    assert (swimming.key, swimming.confidence < 0.95) == ("user/pastime:swimming", True)


def test_a_friend_with_more_words_before_the_name_is_known_by_it_later() -> None:
    friend, moved = "My best friend Oyelaran lives in Toronto.", "Oyelaran has moved to Halifax."
    assert [fact.value for fact in read(friend, moved) if fact.key == "oyelaran/home"] == ["Toronto", "Halifax"]


def test_of_a_group_everyone_is_named_and_no_subject_runs_into_the_next() -> None:
    pigs = read("Our two guinea pigs Pickle and Dumpling shriek.")
    assert {"Pickle", "Dumpling"} <= {fact.value for fact in pigs}
    assert not read("The baby's here. She's called Marisol, born on the 2nd, 3.4 kilos.")
    assert not read("since my hip operation he has driven me there and never takes petrol money")
    assert [fact.key for fact in read("so I'm pescatarian now I suppose")] == ["user/diet"]


def test_what_asks_to_remember_something_is_no_part_of_it() -> None:
    assert [fact.statement for fact in read("Remember this for me: my locker at the pool is number 218.")] == [
        "The user's locker at the pool is number 218."
    ]


def test_work_on_weekends_is_work_and_what_someone_says_is_a_statement() -> None:
    assert "user/job" in {fact.key for fact in read("I work weekends as a barista")}
    assert [fact.key for fact in read("On weekends I restore old typewriters.")] == [""]
    assert finished("The user's mother says they should rest more") != ""


def test_who_walks_the_dog_is_no_dog() -> None:
    walker = "Could you write a sheet for our dog walker? Her name is Philippa and she takes Biscuit out at noon."
    assert not [fact for fact in read(walker) if "Philippa" in fact.statement]


def test_what_someone_is_is_neither_a_relation_nor_an_animal_of_theirs() -> None:
    swap, optician = "I do a language exchange with Haruka", "Super. She's an optician in Sendai, so one about glasses."
    assert [in_short(fact) for fact in read(swap, optician)] == ["The user does a language exchange with Haruka."]
    assert not [fact for fact in read("My girlfriend Noemi is a flautist.") if "pet" in fact.attribute]
    assert "job" not in {fact.attribute for fact in read("camping with the scouts in 2 weeks, I'm a helper")}


def test_another_of_the_same_name_is_not_the_one_that_is_known() -> None:
    brother, other = "My brother Tom is a dentist.", "At work there's another Tom, he runs payroll."
    assert [in_short(fact) for fact in read(brother, other)] == [
        "The user's brother Tom is a dentist. | tom/job=dentist"
    ]


def test_a_correction_is_no_statement_of_its_own() -> None:
    assert read("Sorry, I mean Bruges") == []


def test_a_habit_has_no_year_and_pity_is_no_allergy() -> None:
    (habit,) = read("We usually go to Brittany in August")
    assert (habit.statement, habit.value) == ("The user usually goes to Brittany in August.", "")
    assert [fact.value for fact in read("my brother is allergic to cats, poor guy")] == ["yes"]


def test_a_pronoun_may_name_who_was_spoken_of_without_a_name() -> None:
    said = read("My daughter is starting school on Monday", "her name is Ines")
    assert "The user's daughter is called Ines." in [fact.statement for fact in said]


def assert_says(texts: list[str], said: str, never: str) -> None:
    """What is read of the texts says the one, and nothing that the pattern `never` matches."""
    statements = " ".join(fact.statement for fact in read(*texts))
    assert said in statements
    assert not re.search(never, statements)


@pytest.mark.parametrize(
    ("texts", "said", "never"),
    [
        (["I'm building an app for farmers. It's called Acre."], "The user's app is called Acre.", "cow"),
        (["I'm reading a book by Eco. It's called Baudolino."], "", "is called Baudolino"),
        (["My sister Jo lives in Oslo. She has two kids, Bram and Lotte"], "sister Jo lives in Oslo", "called Bram"),
        (["our neighbour Graham feeds the cat, his wife is a vet"], "neighbour Graham feeds", "has a pet|a vet"),
        (["My sister Priya is here. Her parents-in-law live in Jaipur"], "Priya is here", "lives in Jaipur"),
        (["My boss's daughter got into Oxford"], "boss's daughter got into Oxford", "has daughter"),
        (["dad's 70th is coming up, we're throwing him a party in Galway"], "", "70 years old"),
        (["my passport is Brazilian but I've never lived there"], "is Brazilian", "from Brazilian"),
        (["I teach Year 4 at a school in Hackney and my class is wild"], "teaches Year 4", "lives in Hackney"),
        (["I do payroll for a chain of garden centres, four days a week"], "payroll for a chain", "Garden Centres"),
        (
            ["I split my time between Lisbon and my parents' place in Évora"],
            "Lisbon and their parents' place",
            "mentions",
        ),
        (["we've booked Crete for the last week in May"], "Crete for the last week in May 2027", "2026"),
        (["We're a family of five, three boys"], "belongs to a family of five", "is a family"),
        (["My flatmate Jasper is a cook", "No wait, Jasper moved out"], "flatmate Jasper moved out", "Wait"),
        (["My kids are Freya, 9, Ned, 7, and Poppy, who's 4."], "Poppy was 4 years old", "kids are"),
        (["I have two boys, Sam, 12, and Leo, 9."], "son is called Leo", "two boys, Sam"),
        (["my kids Noor (7) and Sami (4) love slime"], "kids Noor (7) and Sami (4) love slime", "is Noor"),
        (["My parents are Irish and Catholic"], "parents are Irish and Catholic", "called"),
        (["my birthday is 9 November so it'll be cold"], "user's birthday is 9 November", "has a birthday"),
        (["my son Leo goes to St Mark's primary", "Leo started at Fairfield High"], "goes to Fairfield High", "works"),
        (["my daughter started at Oakwood Academy as a teacher"], "works at Oakwood Academy", "goes to"),
        (
            ["people for the house, saving these here. electrician: Keeley. window cleaner: Ali, every 6 weeks."],
            "window cleaner is called Ali",
            "user (is|works as) an?",
        ),
        (["tuesday evenings I'm at a pottery class"], "at a pottery class on Tuesday evenings", "mentions"),
        (["weekends I'm at the allotment"], "at the allotment on weekends", "mentions"),
        (["My grandad is Bert. He's always loved trains"], "has always loved trains", "is always"),
        (["Mum's 60th is at the Crown Hotel"], "Mum's 60th is at the Crown Hotel", "works"),
        (["its a 2012, i drive it to work"], "", "drives a 2012"),
        (["our dog's a beagle called Biscuit", "I mean Bisto, autocorrect"], "called Biscuit", "name is Bisto"),
        (["My cat is called Marek… No wait, Marec"], "cat is called Marec", "Marek"),
        (["I live in Oslo, no wait, Bergen"], "lives in Bergen", "Oslo"),
        (["got a dog. Pixel. whippet"], "dog is called Pixel", "name is Pixel"),
        (["I inherited a tortoise from my uncle. His name is Gerald."], "tortoise is called Gerald", "uncle is called"),
        (
            ["My tortoise Gerald digs. The vet for him is Dr Okafor, by the way"],
            "tortoise is called Gerald",
            "called Dr",
        ),
        (["got 68 in pharmacology!!"], "got 68 in pharmacology", "68 years old"),
        (["got 68 in pharmacology!!"], "got 68 in pharmacology", "studies"),
        (["my mum is coming friday, she has a lot on"], "mum is coming on Friday, 27 November 2026", "mum is on"),
        (["The doctor wants to operate in May. I am rather afraid of it."], "operate in May.", "May. the user"),
        (["my uncle's birthday is 3 march what do i get him"], "uncle's birthday is 3 March", "what"),
        (["My physiotherapist is Mr Thompsen, and I'm cross"], "physiotherapist is", "works as a physiotherapist"),
        (["her husband can't eat pork and me, i'm allergic to shellfish"], "allergic to shellfish", "and the user"),
        (["When you help me with bookings, remember that I prefer a window seat on trains"], "window seat", "Whenever"),
        (["We have two collies, Moss and Fern.", "No Portugal this year, it's Madeira now"], "two collies", "Madeira"),
        (
            ["We have two collies, Moss and Fern.", "we're getting a third dog, a puppy, she's called Bracken"],
            "dog is called Bracken",
            "collie is called Bracken",
        ),
        (
            ["My partner is Fiona.", "Fiona's cousin Ewan will run the place. He's a vegetarian so I need to stock up"],
            "Fiona's cousin Ewan",
            "vegetarian",
        ),
        (["We run a small hotel on Skye, me and my partner Fiona."], "small hotel on Skye.", "them"),
        (["Am I vegetarian?", "I keep bees"], "keeps bees", "vegetarian"),
        (["Actually she isn't my sister. I keep bees."], "keeps bees", "is not the user's"),
        (["it isn't my dog, it's a stray. I keep bees."], "keeps bees", "is not the user's"),
        (["I have three kids: Jonas, Mila and Pia."], "child is called Mila", "mentions"),
        (["my wifi name is Foxglove"], "wifi name is Foxglove", "user's name"),
        (["I teach chemistry at a school in Leicester"], "teaches chemistry", "studies chemistry"),
        (["rooibos tastes like hay to me, oolong is my favourite tea"], "favourite tea is oolong", "rooibos"),
        (["the wrong size again, my shoe size is 43 not 42"], "shoe size is 43.", "42"),
    ],
)
def test_a_fact_is_of_whom_it_is_said_and_as_it_was_last_said(texts: list[str], said: str, never: str) -> None:
    assert_says(texts, said, never)


def test_a_spouse_in_a_note_has_the_key_of_the_partner() -> None:
    assert "user/partner" in {fact.key for fact in read("wife: Tamsin, teacher")}
    assert "user/wife/name" not in {fact.key for fact in read("wife: Tamsin, teacher")}


@pytest.mark.parametrize(
    ("text", "said", "never"),
    [
        ("I hate cilantro. Always tastes like soap to me.", "dislikes cilantro", "wants the assistant"),
        ("Please always give me temperatures in Celsius, I'm not American", "temperatures in Celsius.", "American"),
        ("I prefer short answers with no bullet points", "short answers with no bullet points", "likes short"),
        ("My neighbour Mr Haddad has a key, draft a note to thank him", "Mr Haddad has a key.", "draft"),
        ("I'm colour blind so don't use red and green in the chart", "is colour blind", "does not use|works as"),
        ("I'm a wheelchair user, is the Alhambra accessible?", "is a wheelchair user", "works as"),
        ("Everyone gets a laptop, mine is a MacBook Air M2", "", "drives|user's is"),
        ("I'm writing my thesis on urban heat islands", "thesis on urban heat islands", "studies"),
        ("My sister-in-law Beata had twins! Two girls, Hania and Zosia", "Beata had twins", "daughter|has two girls"),
        ("I passed my driving test today", "passed their driving test", "has a driving test"),
        ("So no more gluten for me I guess, it's celiac disease.", "has celiac disease", "allergic to|mentions"),
        ("My longest run so far is 18k", "", "longest run"),
        ("I now work for the city of Graz as a planner", "the city of Graz", "at city|as a planner as"),
        ("I used to smoke a pack a day but I quit in 2019. I'm on 9", "used to smoke", "user quit|is on 9"),
        ("quit my job at Corvane", "quit their job at Corvane", "works at"),
        ("my contract at Siemens ended in December so I'm freelancing", "freelanc", "works at Siemens"),
        ("I got a new job at Corvane", "works at Corvane", "got a new job"),
        ("I've moved my pension from Aviva to Vanguard", "pension from Aviva to Vanguard", "works at"),
        (
            "I'm Mira, a nurse, and have just moved to Leipzig for my girlfriend's job.",
            "lives in Leipzig",
            "works at|girlfriend (is called|lives)",
        ),
        ("We live in the Südvorstadt, in a flat on the fourth floor", "in the Südvorstadt, in a flat", "works in"),
        ("I live in the Netherlands", "lives in the Netherlands", "^$"),
        ("I moved from Lagos to Winnipeg for my master's in August", "lives in Winnipeg", "works at"),
        ("I'm on ferrous sulphate now", "is on ferrous sulphate", "allergic"),
        ("on day 3 of antibiotics, doxycycline. sun ok?", "", "allergic"),
        ("the patient in the case study is a man on warfarin who started clarithromycin", "", "takes"),
        ("write a cover letter for a made up applicant, nurse, ten years, from Boston", "", "nurse|Boston"),
        ("new address: 14 Calder Row", "address is 14 Calder Row", "new"),
        ("new boss is called Imani", "user's boss is called Imani", "New boss"),
        ("my therapist is Dr Amin, every other Tuesday", "therapist is Dr Amin, every", "Dr Amin is Dr Amin"),
        ("I can't eat coriander, tastes like soap to me", "does not eat or drink coriander", "drink tastes"),
        ("I don't drink a lot and have four friends", "", "does not eat or drink"),
        ("Joan is my neighbour. She hates flowers, adores Elvis", "adores Elvis", "flowers, adores"),
        ("I live with my two kids, 4 and 9 months", "", "9 years"),
        ("Mum 80 on the 12th. party of 30", "", "was 80|has a mum"),
        ("dad's 70 next month", "", "was 70"),
        ("my husband's business went under in the autumn", "husband's business went under", "is business"),
        ("My cousin's asked me to be godmother", "cousin has asked the user", "is asked"),
        ("Son's wedding moved to Goa", "Son's wedding moved", "is wedding"),
        ("My parents in Kettering don't talk to me", "parents in Kettering don't talk", "parent is"),
        ("Since my operation I can't lift more than 5 kilos", "5 kilos since their operation", "operation the user"),
        ("since I went down to four days I have Fridays free", "has Fridays free since they went", "days they have"),
        ("Currently I'm a chemistry technician at a school", "is a chemistry technician", "they are"),
        ("I play left back for a Sunday league side in Hull", "for a Sunday league side", "November"),
        ("driving lessons start sat, 45 quid. how many needed at 29", "", "is driving lessons"),
        ("We adopted siblings last November, aged three and five", "adopted siblings", "user aged"),
        ("left handed, 61, learning banjo", "is left handed", "user left"),
        ("Keys to the shop on Monday!!", "has keys to the shop", "a keys"),
        ("I'm studying for a GCSE in astronomy by myself, age 47", "studying for a GCSE in astronomy.", "themselves"),
        ("I'm a data analyst the rest of the week", "is a data analyst", "analyst the rest of ="),
        ("Me and the girls are at my sister's in Paisley, three of us in one room", "The user and the girls", "Me and"),
        ("what do i say in the standup? i want it to be 4 sentences from now on", "", "answers in sentences"),
    ],
)
def test_a_statement_is_a_sentence_about_the_user(text: str, said: str, never: str) -> None:
    assert_says([text], said, never)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("we've moved the wedding from May to 19 September", "19 September 2027"),
        ("I swapped my 12 week scan to the Thursday", "to Thursday, 26 November 2026"),
        ("I've decided to go home in December", "December 2026"),
        ("I've been asked to be best man in Limerick on the 9th of August by my brother Donal", "9 August 2027"),
        ("been promoted to bosun, joining a ship out of Rotterdam on the 9th", "9 December 2026"),
        ("got a recall letter and the colposcopy's on the 6th", "6 December 2026"),
        ("I've got my first paid spot on the 7th", "7 December 2026"),
        ("I sold my boat in May and miss it", "May 2026"),
        ("I'm getting married in June", "June 2027"),
    ],
)
def test_a_day_is_before_or_after_today_as_the_verb_beside_it_says(text: str, day: str) -> None:
    assert_says([text], day, "^$")


@pytest.mark.parametrize("text", ["moved to Lyon last week", "stopped the ferrous sulphate"])
def test_what_leaves_out_i_is_weighed_as_if_it_said_it(text: str) -> None:
    assert any(fact.confidence > ASK for fact in read(text))


@pytest.mark.parametrize(
    ("text", "said", "never"),
    [
        ("currently a barista but I want to go back into design", "is a barista", "currently a barista"),
        ("i'm kinda broke this month, rent is 740", "", "rents"),
        ("btw call me anci, everyone does", "wants to be called Anci", "name is"),
        ("yo i play valorant, im diamond 2", "valorant", "pastimes is diamond"),
        ("my gf maya dumped me lol", "", "partner is called"),
        ("my dad wont let me get a pc", "will not let the user get a pc", "gets"),
        ("my cousin Jay got me into climbing, been like 5 times now", "", "Jay been"),
        ("I wanna study marine biology at UC Santa Cruz", "wants to study marine biology", "user studies"),
        ("mom's birthday is the 22nd", "birthday is 22", "has a mom's"),
        ("We're a Series B company, 85 people", "", "is a Series B"),
        ("I commute by bike, 11 km each way", "commutes by bike", "drives"),
        ("We hired a VP, Noor, starts 1 February", "1 February 2027", "2026"),
        ("Scratch what I said about NATS: we're going with Kafka", "going with Kafka", "NATS"),
        ("I have twin boys, 4 years old", "twin boys", "twin was"),
        (
            "me: 42, two cats (Miso + Ramen), renting in Gdansk",
            "cat is called Ramen. The user has pet",
            "pet is called",
        ),
        ("so it's Sarah Okafor now, not Whitlock", "name is Sarah Okafor", "Whitlock"),
        ("I decided to keep the motorbike after all", "decided to keep the motorbike", "drives"),
        ("my brother is eating meat again", "", "diet"),
        ("we went with the Nihola in the end", "went with the Nihola", "name is"),
        ("I can't eat shellfish by the way, last time I ended up in A&E", "not eat or drink shellfish.", "by the way"),
        ("i've got an interview on Monday for a ward manager post, nervous", "ward manager post.", "nervous"),
        ("btw going by Jax from now on, put that on the flyer", "wants to be called Jax", "name is"),
        ("my time zone is Asia/Kolkata but the client is on Pacific", "time zone is Asia/Kolkata", r"Asia/\."),
        ("Our daughter Alba was born on the 3rd", "3 November 2026", "December"),
        ("And you assumed my name was Gareth, very odd.", "", "Gareth"),
        ("i live near bath, wheres a cheap garage round here", "lives near Bath.", "garage"),
        ("Since we live in Turin we might as well try skiing", "lives in Turin", "skiing"),
        ("In winter we live with my mother, as I mentioned earlier.", "with their mother in winter.", "mention"),
        ("My son has a severe tree nut allergy.", "son is allergic to tree nut.", "has a"),
        ('I have a latex allergy, is that "yes" or "no"?', "is allergic to latex.", "has a"),
        ("I have a food allergy", "has a food allergy", "allergic to food"),
        ("You called me Steve. That isn't my name.", "", "Steve"),
        ("You call me Steve, but my name is Tom.", "name is Tom", "Steve"),
        ("Why do you call me Steve? I'm Tom.", "name is Tom", "Steve"),
        ("From now on you call me Noor, at home they do too.", "wants to be called Noor", "name is"),
        ("Please don't call me Theodora.", "", "wants to be called"),
        ("You said I live in Rome, but I live in Oslo.", "lives in Oslo", "Rome"),
        ("Never could spell it.", "", "assistant"),
        ("so scrap the novelty ambulance mug idea", "", "scrap"),
        ("got the job!!! start in February", "got the job", "has a start"),
        ("my sister Nadia's allergic to mould", "Nadia is allergic to mould", "Nadia's"),
        ("My sister Nadia is training to be a midwife.", "training to be a midwife", "works as"),
        ("On a happier note I've signed up for a pottery class.", "signed up for a pottery class.", "note"),
        ("Always been a morning person.", "has always been a morning person", "assistant"),
        ("Never been good at maths.", "has never been good at maths", "never has been"),
        ("Never put emojis in your answers.", "never to put emojis in its answers", "user never"),
        ("its me n my kid (Theo, 11, autistic, hates surprises)", "kid Theo was 11", "user (?:was 11|is autistic)"),
        ("i live in Dunedin, is it mad to cycle to work here in winter", "lives in Dunedin", "Winter"),
        ("I took my husband's surname, I'm Mehmet Bergström now", "name is Mehmet Bergström", "surname is"),
        ("Ahmed Khalil switched to mobile last week.", "Ahmed Khalil switched to mobile last week.", "user ahmed"),
        ("My doctor found I've got coeliac disease.", "The user has coeliac disease.", "doctor found"),
        ("Got a tortoise off my uncle, he's called Winston", "tortoise is called Winston", "uncle is called"),
        ("Bruno is the dog, he gets salmon", "dog is called Bruno. The user's dog Bruno gets salmon", "is the dog"),
        ("We rehearse on Thursday evenings in the hall.", "rehearses on Thursday evenings in the hall", r"20\d\d"),
        ("my supervisor is prof Okonjo", "supervisor is called Okonjo", "is prof"),
        ("had a first meeting with dr Halvorsen, whos my supervisor", "supervisor is called Halvorsen", "nothing"),
        ("my cousin Karim lives in Tunis, drives a taxi there.", "Karim lives in Tunis", "as a drives"),
        ("We're doing IVF at the Hollis clinic and I need an excuse for work", "IVF at the Hollis", "works at"),
        ("rail pass or single tickets? Tokyo, Kanazawa, Hiroshima.", "", "lives in|mentions"),
        ("What are my birds called?", "", "bird"),
        ("I'm on maternity leave with time to read, so tell me about tea.", "maternity leave", "works as"),
        ("sample budget for 1 person in cebu? moved here 2 weeks ago, rent is 9k", "", "lives in 9"),
        ("cache it to disk, 6h ttl, single user", "", r"is single\."),
        ("I've been single since March", "The user is single.", "nothing"),
        ("my ex Milan has my tent and drives past my window in his stupid green van.", "", "user drives"),
        ("The kids have named our guinea pig Waffles.", "guinea pig is called Waffles", "nothing"),
        ("so, since sunday we have a cat", "", "cat on Sunday"),
        ("We live in Visby, my wife and I, with a small guest house.", "lives in Visby", "withs"),
        ("new client on Monday, Mrs Ferri, 88, used to breed finches", "", "The user used to"),
        ("i live in ghent, third floor, no lift", "The user lives in Ghent", "ghent, third"),
        ("i live in malmö, whats a good running route", "The user lives in Malmö", "whats"),
        ("Asked again, it's cashews that Kit can't have.", "", "The user is allergic"),
        ("Lerato is 29 and a nurse.", "", "user's nurse"),
        ("I am 67, widowed nine years.", "was 67 years old", "user widowed"),
        ("Big scan today!!! I can't sleep.", "The user has a big scan on", "is big scan"),
        ("big fan of jazz, any tips?", "The user likes jazz", "is big"),
        ("I have a pet shop in Leeds", "The user has a pet shop in Leeds", "works as"),
        ("My driving test is on 12 May and I'm nervous.", "driving test on Wednesday, 12 May 2027", "nothing"),
        ("my exam is on 14 may and im scared", "exam is on Friday, 14 May 2027", "nothing"),
        ("we may get married in Porto", "", "married|Porto"),
        ("my pottery class is on tuesday and friday evening", "is on tuesday and friday evening", "November"),
        ("kit from sales is allergic to peanuts so none of those", "", "The user is allergic"),
        ("I have a boyfriend. His name is Rui, he mends shoes.", "boyfriend Rui mends shoes", "partner is called"),
        ("My sister has a daughter. Her name is Ines.", "sister has a daughter", "is called Ines"),
        ("thinking Malta for the half-term break", "", "thinking"),
        ("I picked up my Yaris this morning, keys in hand", "The user drives a Yaris", "nothing"),
        ("Tarn is our sheepdog and he is deaf", "The user's sheepdog is called Tarn", "pet Tarn"),
    ],
)
def test_words_are_read_for_what_they_mean_in_their_place(text: str, said: str, never: str) -> None:
    assert_says([text], said, never)


@pytest.mark.parametrize(
    ("text", "said", "never"),
    [
        ("I moved to Ghent for a job at a hospital", "", "works at a job"),
        ("I don't eat pork and Wim hates mushrooms", "does not eat or drink pork", "drink Wim"),
        ("my husband Wim is from here, he teaches maths", "Wim teaches maths", "from here"),
        ("can you remember that I work nights every second week?", "works nights every second week", "remember"),
        ("My husband Wim stopped, he's started at an insurance company", "works at an insurance company", "is started"),
        ("My cousin Lea's birthday is 9 June", "birthday is 9 June", "birthday is on"),
        ("My husband Wim's birthday is on the 9th of May", "birthday is 9 May", "birthday is on"),
        ("our daughter goes to a nursery called Bølgen", "", "daughter is called"),
        ("my son Steve's coming home for Christmas", "Steve is coming home for Christmas", "Steve's"),
        ("my son Steve's coming home, first time in four years", "first time in four years", r"in 20\d\d"),
        ("We've got two lads, Martin (he's in Leeds) and Steve who's away", "son is called Martin", "lad "),
        ("our two girls, Ida (5) and Zoe (3), love swimming", "daughter is called Zoe", "user loves"),
        ("im 15 n my mum says i cant dye my hair", "was 15 years old", "15 n"),
        ("My daughter Amélie set up my email and the password is Pommier-1948-vert", "Amélie set up the", "Pommier"),
        ("Our dog Rex chewed the router, its password was kingfisher9", "dog Rex chewed the router", "kingfisher"),
    ],
)
def test_a_clause_ends_where_anothers_begins(text: str, said: str, never: str) -> None:
    assert_says([text], said, never)


def test_a_mended_name_holds_for_what_is_said_next() -> None:
    told = [fact.statement for fact in read("I live with my girlfriend Merit.", "*Marit", "she hates surprises btw")]

    assert any("girlfriend Marit dislikes surprises" in one for one in told)


def test_the_name_that_mends_another_is_not_the_users() -> None:
    told = read("Write to my landlord, Mr Lindberg, about the heating.", "Oh no, sorry, it's Lindgren! Wrong sign.")

    assert [in_short(fact) for fact in told] == [
        "The user's landlord is called Mr Lindberg. | user/landlord/name=Mr Lindberg"
    ]


def test_whose_a_value_is_may_stand_behind_it() -> None:
    told = [in_short(fact) for fact in read("My sister Ana works at Lidl.", "ITA Airways is her employer.")]

    assert any("ana/employer=ITA Airways" in one for one in told)
    assert not any("user/employer" in one for one in told)


@pytest.mark.parametrize(
    ("known", "is_read"),
    [
        (["The user's friend Odile lives in Leeds."], True),
        (["The user's friend Odile lives in Leeds.", "The user's colleague Odile lives in Hull."], False),
    ],
)
def test_the_only_one_known_by_a_name_is_meant_next(known: list[str], is_read: bool) -> None:
    facts = [KnownFact(1, one, Kind.PERSON, "odile/home", "Leeds", 1.0, "active", "", SATURDAY) for one in known]
    said = Utterance(2, 2, "user", "Seeing Odile on Sunday. She lives in Cardiff, by the sea.", SATURDAY)

    told = RuleEngine().extract(ExtractionInput([said], "Alice", LISBON, known=facts)).facts

    assert any(fact.value == "Cardiff" for fact in told) == is_read


def test_the_dog_is_the_only_one_that_is_known_by_whatever_breed() -> None:
    told = [
        in_short(fact) for fact in read("We adopted a greyhound! Her name is Duchess.", "She's called Biscuit now.")
    ]
    again = read(
        "We adopted a greyhound! Her name is Duchess.", "The kids have renamed the dog. She's called Biscuit now."
    )
    two = read("Our beagle is called Max and our poodle is called Fifi.", "The dog is called Rex now.")

    assert told[-1] == "The user's greyhound is called Biscuit. | user/greyhound/name=Biscuit"
    assert in_short(again[-1]) == told[-1]
    assert not any(fact.key == "user/pet:dog" for fact in again)
    other = read("My greyhound is called Duchess.", "The dog of my neighbour barks. He's called Bruno.")
    assert not any(fact.key == "user/greyhound/name" and fact.value == "Bruno" for fact in other)
    assert not any(fact.key.startswith(("user/beagle", "user/poodle")) and fact.value == "Rex" for fact in two)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("The guest house of my aunt is in Hoi An and breakfast is from seven.", "is in Hoi An."),
        (
            "Draft a note to my daughter Saga's teacher, Ms Lindqvist",
            "The user's daughter's teacher is called Ms Lindq",
        ),
        ("and a text to my son's hockey coach Pekka", "The user's son's hockey coach is called Pekka."),
        ("I work night shifts at a warehouse.", "works night shifts at a warehouse. | user/employer=a warehouse"),
        ("i go to pottery on fridays and spanish lessons on tuesdays, plus work", "pastimes is pottery."),
    ],
)
def test_what_is_said_is_kept_whole(text: str, said: str) -> None:
    assert any(said in in_short(fact) for fact in read(text))


def test_what_the_subject_of_another_clause_is_not_is_not_said_of_it() -> None:
    saving = [in_short(fact) for fact in read("I'm saving for a motorbike, a Ducati.")]
    going = [fact.statement for fact in read("We're going to Crete in June, two adults and a toddler.")]
    dog = [in_short(fact) for fact in read("The dog of my neighbour Greta, Bruno, barks every day from six.")]

    assert not any("is a Ducati" in said or "user/car" in said for said in saving)
    assert "The user is a toddler." not in going
    assert not any("neighbour Bruno" in said for said in dog)


def test_a_short_name_takes_the_place_of_no_full_one() -> None:
    told = read(
        "My name is Hildegard Brandt, but do call me Hilde.", "Good afternoon, it's Hilde.", "Hi, I'm Hildegard."
    )
    assert [fact.value for fact in told if fact.key == "user/name"] == ["Hildegard Brandt"]
    assert [fact.value for fact in read("I'm Ada.", "Hi, I'm Grace.") if fact.key == "user/name"] == ["Ada", "Grace"]


def test_a_surname_is_no_first_name() -> None:
    read_of = [in_short(fact) for fact in read("and the surname is Mac Giolla, two words")]
    assert "The user's surname is Mac Giolla. | user/surname=Mac Giolla" in read_of
    assert not any("user/name=" in one for one in read_of)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Please be blunt with me, I have thick skin", ["to be blunt with them"]),
        ("Okay feedback. You keep ending with offers. Stop when you're done. Also no emojis.",
         ["to stop when it is done", "no emojis"]),
        ("From now on I read on my phone, so short paragraphs, no tables.", ["short paragraphs and no tables"]),
        ("My sight is bad, so short answers.", ["short answers"]),
        ("Also I'd rather you say you don't know than guess", ["to say it doesn't know rather than guess"]),
        ("Write a card for my boss. Short sentences, no emojis.", []),
        ("be honest with me, is this poem bad?", []),
    ],
)  # fmt: skip
def test_how_answers_are_to_be_is_an_order_where_it_is_meant_for_all(text: str, wanted: list[str]) -> None:
    said = [fact.statement for fact in read(text) if fact.kind is Kind.INSTRUCTION]
    assert said == [f"The user wants {'' if one[:3] != 'to ' else 'the assistant '}{one}." for one in wanted]


def test_an_order_for_the_future_is_one() -> None:
    assert [in_short(fact) for fact in read("And for the future: use grams please")] == [
        "The user wants weights in grams. | user/units:weight=grams"
    ]


def test_who_does_not_have_something_eats_it_nevertheless() -> None:
    assert [in_short(fact) for fact in read("We don't have a car.")] == ["The user does not have a car."]
    assert "user/diet:gluten=no" in in_short(read("I can't have gluten.")[0])


def test_a_breed_is_no_second_animal() -> None:
    told = [in_short(fact) for fact in read("My cat Olive keeps waking me.", "She's a Siamese.")]
    rex = [in_short(fact) for fact in read("My dog is called Rex.", "He's a beagle, if that explains it.")]

    assert not any("user/pet:siamese" in said for said in told)
    assert "The user's dog Rex is a beagle." in rex


@pytest.mark.parametrize(
    "text", ["she told me shes on sertraline, antidepressants", "my mum is on sertraline", "Priti is now on sertraline"]
)
def test_what_someone_else_takes_is_not_the_users(text: str) -> None:
    assert "The user takes sertraline." not in [fact.statement for fact in read(text)]
    assert "The user takes sertraline." in [fact.statement for fact in read("My doctor put me on sertraline.")]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["put rice, lentils and washing powder on my shopping list", "take the lentils off my shopping list"],
         "On the user's shopping list are rice and washing powder. | user/list:shopping=rice, washing powder"),
        (["Start a packing list for my trek: head torch, socks.", "Can you add sun cream to the packing list?"],
         "On the user's trek packing list are head torch, socks and sun cream. | "
         "user/list:trek_packing=head torch, socks, sun cream"),
        (["keep my packing list for the trek please: socks, tent", "and put on earplugs, Ivo snores like a bear."],
         "On the user's trek packing list are socks, tent and earplugs. | "
         "user/list:trek_packing=socks, tent, earplugs"),
        (["start me a list for the hardware shop: hinges, paint", "put glue on the hardware list too. paint comes off"],
         "On the user's hardware shop list are hinges and glue. | user/list:hardware_shop=hinges, glue"),
        (["keep a to-read list for me please: Emma, Ulysses", "finished Emma, take it off my reading list"],
         "On the user's to-read list is Ulysses. | user/list:to_read=Ulysses"),
        (["Birthday presents, please keep track: a kite for Otto, a soft wool scarf for Mum"],
         "On the user's birthday present list are kite for Otto and soft wool scarf for Mum. | "
         "user/list:birthday_present=kite for Otto, soft wool scarf for Mum"),
        (["packing list for Oslo, so far: tent, wellies", "Thanks!",
          "Oslo list: scratch the wellies, it's dry. sandals instead."],
         "On the user's oslo packing list are tent and sandals. | user/list:oslo_packing=tent, sandals"),
        (["Can you keep a shopping list for me? Start with oat milk and red lentils.",
          "oh and washing powder, put that on the list as well", "We need no beans.",
          "I already picked up the washing powder, you can take that off the list"],
         "On the user's shopping list are oat milk and red lentils. | user/list:shopping=oat milk, red lentils"),
        (["I want to keep a to-read list with you. First one: Piranesi", "Fine!",
          "for my to-read list: The Salt Path, my mum swears by it", "one more for my to-read list, Klara and the Sun"],
         "On the user's to-read list are Piranesi, The Salt Path and Klara and the Sun. | "
         "user/list:to_read=Piranesi, The Salt Path, Klara and the Sun"),
        (["packing list: socks", "Thanks!", "We love fish.", "there's no power so I also need a power bank, add it"],
         "On the user's packing list are socks and power bank. | user/list:packing=socks, power bank"),
        (["Let's start a watchlist: Emma, Heat", "We saw Heat last night, so that can come off the list",
          "second one: Ran"], "On the user's watch list are Emma and Ran. | user/list:watch=Emma, Ran"),
        (["keep a new list called allotment: twine, netting", "it's wet, so rain boots should go on the list too"],
         "On the user's allotment list are twine, netting and rain boots. | "
         "user/list:allotment=twine, netting, rain boots"),
        (["Would you start a list of cafes for me? First: Casa Lupo",
          "another one for the cafe list: Ox, Tom raves about it"],
         "On the user's cafe list are Casa Lupo and Ox. | user/list:cafe=Casa Lupo, Ox"),
        (["shopping list: rice, limes", "Thanks!", "No need for limes, we have some. Take them off the list"],
         "On the user's shopping list is rice. | user/list:shopping=rice"),
        (["shopping list: milk, rice", "and capers on the shopping list, the little ones in salt",
          "milk can come off the shopping list, theres a jar"],
         "On the user's shopping list are rice and capers. | user/list:shopping=rice, capers"),
        (["Jobs for the handyman, please keep these: dripping tap, loose banister",
          "another one for the handyman list: the garden gate is stuck"],
         "On the user's handyman job list are dripping tap, loose banister and garden gate is stuck. | "
         "user/list:handyman_job=dripping tap, loose banister, garden gate is stuck"),
        (["shopping list: rice, limes", "I need a better title. Add it at the top", "first: boil the rice"],
         "On the user's shopping list are rice and limes. | user/list:shopping=rice, limes"),
        (["shopping list: rice, eggs", "Thanks!", "shopping list: take the eggs off"],
         "On the user's shopping list is rice. | user/list:shopping=rice"),
        (["Shopping list for the weekend: rice, eggs", "Good night!", "add limes. and take the eggs off, we have some"],
         "On the user's shopping list are rice and limes. | user/list:shopping=rice, limes"),
        (["Shopping list for tomorrow: oat milk, lentils.", "Add limes to the shopping list."],
         "On the user's shopping list are oat milk, lentils and limes. | user/list:shopping=oat milk, lentils, limes"),
        (["My to-do list: call the bank", "clear my to-do list"],
         "On the user's to-do list is nothing. | user/list:to_do=nothing"),
        (["add milk to my shopping list. Also add bread to my shopping list, please"],
         "On the user's shopping list are milk and bread. | user/list:shopping=milk, bread"),
        (["packing list: headlamp, socks, filter", "take the filter off the packing list, no need. add a whistle"],
         "On the user's packing list are headlamp, socks and whistle. | user/list:packing=headlamp, socks, whistle"),
        (["shopping list: rice, oat milk", "And add pegs, apparently mine are gone."],
         "On the user's shopping list are rice, oat milk and pegs. | user/list:shopping=rice, oat milk, pegs"),
        (["shopping list: rice, oat milk", "add a joke at the end"],
         "On the user's shopping list are rice and oat milk. | user/list:shopping=rice, oat milk"),
        (["shopping list: rice, limes", "We love fish.", "take the limes off the list, found some"],
         "On the user's shopping list is rice. | user/list:shopping=rice"),
        (["shopping list: rice, limes", "packing list: socks", "We love fish.", "add pegs to the list"],
         "The user loves fish. | user/taste:fish=likes"),
        (["add bubble wrap to the packing list"],
         "On the user's packing list is bubble wrap. | user/list:packing=bubble wrap"),
        (["new allotment list, keep it please: twine, 5kg compost, slug pellets", "oh and bamboo canes",
          "scrap the compost, Dai has a heap. we also need netting"],
         "On the user's allotment list are twine, slug pellets, bamboo canes and netting. | "
         "user/list:allotment=twine, slug pellets, bamboo canes, netting"),
        (["could u keep a list of films to watch: Alien, Paddington 2, Heat", "Good night!",
          "seen Alien, terrifying, off the list. put Ran on the films to watch"],
         "On the user's film list are Paddington 2, Heat and Ran. | user/list:film=Paddington 2, Heat, Ran"),
        (["Shopping list: red onions, dog food size L, eggs", "swap the onions for leeks", "got the eggs already"],
         "On the user's shopping list are dog food size L and leeks. | user/list:shopping=dog food size L, leeks"),
        (["my DIY shop list: wood glue, 4 hinges, filler", "cross off the hinges and put sandpaper on",
          "add to the list: masking tape, brushes"],
         "On the user's diy shop list are wood glue, filler, sandpaper, masking tape and brushes. | "
         "user/list:diy_shop=wood glue, filler, sandpaper, masking tape, brushes"),
        (["start me a grocery list: 2 leeks, rice milk, foil", "put cumin on and take off the foil, found some"],
         "On the user's grocery list are 2 leeks, rice milk and cumin. | user/list:grocery=2 leeks, rice milk, cumin"),
        (["hey beach trip packing list for the twins, as far as i know: goggles, towels", "Good night!",
          "for the beach trip packing list add floats"],
         "On the user's beach trip packing list are goggles, towels and floats. | "
         "user/list:beach_trip_packing=goggles, towels, floats"),
        (["packing for Oslo (ferry at 9): slippers, charger cable", "add lip balm"],
         "On the user's oslo packing list are slippers, charger cable and lip balm. | "
         "user/list:oslo_packing=slippers, charger cable, lip balm"),
        (["my countries so far: Laos, Peru, Oman.", "add Mexico to my country list"],
         "On the user's country list are Laos, Peru, Oman and Mexico. | user/list:country=Laos, Peru, Oman, Mexico"),
        (["films my students named, keep these for me: Perfect Days, The Quiet Girl", "add Past Lives"],
         "On the user's film list are Perfect Days, The Quiet Girl and Past Lives. | "
         "user/list:film=Perfect Days, The Quiet Girl, Past Lives"),
        (["to do: ring about the bins, post the parcel, book a test", "ok bins done, 40 minutes on hold"],
         "On the user's to-do list are post the parcel and book a test. | "
         "user/list:to_do=post the parcel, book a test"),
        (["keep a list of films: Aftersun, Heat", "watched Aftersun last night and sat in the car park after"],
         "On the user's film list is Heat. | user/list:film=Heat"),
        (["packing list: socks, torch", "I packed a hat too, add those to the list"],
         "On the user's packing list are socks, torch and hat. | user/list:packing=socks, torch, hat"),
        (["start a list of gifts: kite, chess set", "Yes, really.", "a puzzle goes on my gift list. drop the kite"],
         "On the user's gift list are chess set and puzzle. | user/list:gift=chess set, puzzle"),
    ],
)  # fmt: skip
def test_a_list_is_all_that_is_on_it(texts: list[str], said: str) -> None:
    assert in_short(read(*texts)[-1]) == said


@pytest.mark.parametrize(
    "text",
    [
        "put me on the waiting list",
        "add 3 to the linked list",
        "Write a shopping list for a curry",
        "What's on my shopping list?",
        "take the eggs off the shopping list",
        "Make a packing list for Oslo: four days, ferry, one rucksack",
        "Ingredients list: flour, eggs",
        "problems so far: the heating, the lift",
        "my classes: maths, art",
    ],
)
def test_no_list_of_the_users_is_changed_by_other_words(text: str) -> None:
    assert not any("list:" in fact.key for fact in read(text))


@pytest.mark.parametrize(
    "text",
    [
        "add a saxophone solo to the song you just wrote",
        "take off your tie",
        "drop the sarcasm",
        "and make it rhyme",
        "also cook it for longer",
        "plus my uncle is visiting",
        "add two more examples",
        "put it in a table",
        "remove the eggs from the recipe",
        "I have eggs on my shopping list",
        "we have a dog",
        "my shopping list is long and boring",
        "what else goes on the list?",
    ],
)
def test_an_order_that_is_about_no_list_leaves_it(text: str) -> None:
    said = [fact.value for fact in read("Shopping list: eggs, dog food, tea", text) if fact.key == "user/list:shopping"]
    assert said == ["eggs, dog food, tea"]


@pytest.mark.parametrize(
    ("text", "minutes", "left"),
    [
        ("take the eggs off, Jun keeps hens. add rice", 9_000, ["tea, rice"]),
        ("add rice to the list", 9_000, ["eggs, tea, rice"]),
        ("bought the eggs", 9_000, ["tea"]),
        ("add rice", 5, ["eggs, tea, rice"]),
        ("add rice", 9_000, []),
        ("drop the eggs, I'm vegan", 9_000, []),
        ("we have eggs", 9_000, []),
    ],
)
def test_the_only_list_is_meant_later_where_the_words_tell(text: str, minutes: int, left: list[str]) -> None:
    was = "On the user's shopping list are eggs and tea."
    known = KnownFact(1, was, Kind.FACT, "user/list:shopping", "eggs, tea", 1.0, "active", "", SATURDAY)
    said = [Utterance(1, 2, "user", text, SATURDAY + timedelta(minutes=minutes))]

    facts = RuleEngine().extract(ExtractionInput(said, "Alice", LISBON, [known])).facts

    assert [fact.value for fact in facts if "list:" in fact.key][-1:] == left


def test_a_list_that_is_added_to_later_is_not_asked_about() -> None:
    was = "On the user's shopping list are milk, salt and batteries."
    known = KnownFact(1, was, Kind.FACT, "user/list:shopping", "milk, salt, batteries", 0.95, "active", "", SATURDAY)
    said = [Utterance(1, 2, "user", "add lemons to the shopping list", SATURDAY + timedelta(days=1))]

    (fact,) = RuleEngine().extract(ExtractionInput(said, "Alice", LISBON, [known])).facts

    assert (fact.value, fact.confidence) == ("milk, salt, batteries, lemons", 0.95)


def test_of_two_lists_none_is_meant_without_its_name() -> None:
    told = read(
        "Shopping list: eggs, tea", "Packing list: tent, tea", "Good night!", "take the tea off. add it to mine"
    )
    assert [fact.value for fact in told if "list:" in fact.key] == ["eggs, tea", "tent, tea"]


def test_a_no_that_denies_is_no_filler() -> None:
    (sentence,) = sentences("no cats on the cover")
    assert [clause.text for clause in clauses_of(sentence)] == ["no cats on the cover"]
    (sentence,) = sentences("no, I live in Lyon")
    assert [clause.text for clause in clauses_of(sentence)][-1] == "I live in Lyon"


def test_a_statement_ends_before_a_question_that_follows_it() -> None:
    assert finished("Power is gone at home how to save a file.") == "Power is gone at home."


@pytest.mark.parametrize(
    ("said", "learned"),
    [
        ("im ten years in A&E", set()),
        ("I'm 40 years in the trade", set()),
        ("I'm 34 years old and single", {"user/age", "user/relationship"}),
        ("also my locker partner is Priscilla and she talks SO loud", set()),
        ("my tennis partner Jo has moved", set()),
        ("my lovely partner is called Sam", {"user/partner"}),
        ("in the mails please write my manager as Sreedhar, double e and dh", {"user/manager/name"}),
        ("I live in a WG in Moabit", {"user/home"}),
        ("me mam's in Barnsley", {"user/mam/home"}),
        ("do it for me, mate, and tell me mum stuff", set()),
        ("got three at home: Alfie (9) and Reuben (2), and the youngest eats glue", {"alfie/age", "reuben/age"}),
        ("bio for my page: I'm Tom, a plumber from Hull", {"user/name", "user/job"}),
        ("bio for my d&d character: I'm Tom, a plumber from Hull", set()),
        ("my names Destiny but everyone calls me dez", {"user/name", "user/preferred_name"}),
        ("write a happy bday msg for my bff Kayleigh, sign it from dez", set()),
        ("Second: my uncle Joe runs a bakery", {"joe/job"}),
        ("hi, Ruaridh here. when i say 9am i mean Halifax time", {"user/name", "user/time_zone"}),
        ("how cold is too cold for a greyhound? ours is called Biscuit", {"user/greyhound/name"}),
        ("i applied for a job at Maersk, ops planner, in Aarhus", set()),
        ("i work nights, nurse, in Leeds", {"user/job", "user/home"}),
        ("I shifted to Whitefield last month as office is there", {"user/home"}),
        ("Currently a senior QA engineer with Booking in Amsterdam", {"user/job", "user/employer"}),
        ("I'm a nurse with two kids", {"user/job"}),
        ("need accessible hikes near Innsbruck where i live", {"user/home"}),
        ("they moved to the town where I live", set()),
        ("my new boss is a guy called Ravi, ex navy, wants weekly reports.", {"user/boss/name"}),
        ("its spelled Aoife, sorry, you'd think i'd know my own daughters name", set()),
        ("you gave me violin strings! no, not violin, VIOLA. completely different", set()),
        ("moved in w/ my boyfriend in Antwerp", {"user/home", "user/boyfriend/home"}),
        ("She's my son's speech therapist btw", set()),
        ("the doc put me on low salt", {"user/diet:salt"}),
        ("I told my mom I'd be home for Thanksgiving", set()),
        ("before that I did two years at a startup in Ljubljana, where I'm from", {"user/origin"}),
        ("I'm with EDF now, so scrap that", set()),
        ("we've migrated to FastAPI at work now", set()),
        ("I'm 68 and retired last spring from teaching Latin.", {"user/age"}),
        ("My late husband Gordon always did the taxes", set()),
        ("she's here!! born on 28 Feb, we went with Ada.", set()),
        ("so i matched with this guy Felix!! he's a vet.", set()),
        ("I am a pensioner, 74", {"user/age"}),
        ("i rent the flat out in Valparaíso", set()),
        ("lol thought so. i am a retired bus driver i have seen everything", {"user/job"}),
        ("Rangi here. when does it start?", {"user/name"}),
        ("Beginner here. when does it start?", set()),
        ("my neighbour, also called Mateo, has broken his hip", set()),
    ],
)
def test_words_that_look_like_a_key_of_the_user_are_read_for_whom_and_what_they_say(
    said: str, learned: set[str]
) -> None:
    keys = {fact.key for fact in read(said)}
    assert {key for key in keys if not key.startswith("user/pastime") and key} == learned


def test_what_is_said_as_me_lad_is_said_of_my_lad() -> None:
    assert [fact.statement for fact in read("me dad has a bad back")] == ["The user's dad has a bad back."]


def test_a_title_ends_no_sentence_before_a_small_particle() -> None:
    assert [fact.statement for fact in read("my supervisor Prof. de Wit wants the draft soon")] == [
        "The user's supervisor is called Prof. de Wit.",
        "The user's supervisor Prof. de Wit wants the draft soon.",
    ]


def test_another_ones_birthday_is_no_event_of_the_user() -> None:
    assert not read("oh and its samir's birthday on friday, he turns 41")


def test_an_age_in_brackets_ends_no_sentence() -> None:
    assert [fact.statement for fact in read("my brother Samir visits with Lina (6) and Adam (3)")] == [
        "The user's brother Samir visits with Lina (6) and Adam (3)."
    ]


def test_we_are_may_be_written_with_one_letter() -> None:
    assert [fact.statement for fact in read("we r going to Hampi in spring")] == [
        "The user is going to Hampi in spring."
    ]


def test_who_is_known_needs_no_capital() -> None:
    said = ("kids: Adam (7), Mark (4)", "adam cant have eggs", "what mark is fair? the mark is a 2")
    assert [fact.key for fact in read(*said) if fact.key] == ["adam/age", "mark/age", "adam/allergy:eggs"]


@pytest.mark.parametrize(
    ("said", "learned"),
    [
        ("my sister is Annelies", ["The user's sister is called Annelies."]),
        ("my firm is called Voss & Sohn", ["The user's firm is called Voss & Sohn."]),
        ("baby is 6 weeks old", ["The user's baby is 6 weeks old."]),
        ("I'm working on my CV.", []),
        ("felix and i are official now", []),
        ("Caio, my son, is coeliac so careful w/ snacks", ["The user's son Caio is coeliac."]),
        ("bro my sister lives in Leeds", ["The user's sister lives in Leeds."]),
        ("I have COPD", ["The user has COPD."]),
        ("the dogs called Mochi, we got him from a shelter in Porto", ["The user has a pet dog called Mochi."]),
    ],
)
def test_a_statement_says_what_was_meant_and_no_more(said: str, learned: list[str]) -> None:
    statements = [fact.statement for fact in read(said)]
    assert [one for one in statements if one in learned] == learned
    assert learned or not statements


def test_grandchildren_are_read_with_their_ages() -> None:
    read_of = {
        fact.key: fact.value for fact in read("The grandchildren are: Aarav (12), Diya (9) and the smallest Anvi (3)")
    }
    assert read_of == {"": "Diya", "aarav/age": "12", "diya/age": "9", "anvi/age": "3"}
    (become,) = (fact for fact in read("my son Kabir has become 8 this Thursday") if fact.key == "kabir/age")
    assert become.value == "8"


def test_an_order_keeps_the_names_in_it() -> None:
    (order, *_) = read("when you give me times, use New Zealand time")
    assert (
        order.statement
        == "Whenever the assistant gives them times, the user wants the assistant to use New Zealand time."
    )


def test_a_new_surname_is_part_of_the_name_that_is_known() -> None:
    was = "The user's name is Ilse Vandamme."
    known = KnownFact(1, was, Kind.IDENTITY, "user/name", "Ilse Vandamme", 0.95, "active", "", SATURDAY)
    said = [Utterance(1, 2, "user", "since the wedding my surname is De Clercq", SATURDAY + timedelta(days=1))]
    facts = RuleEngine().extract(ExtractionInput(said, "Alice", LISBON, [known])).facts
    assert {fact.key: fact.value for fact in facts if fact.key} == {
        "user/surname": "De Clercq",
        "user/name": "Ilse De Clercq",
    }
