"""What the rule engine finds in a message, and what it must not find."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.librarian.engine import ExtractionInput, KnownFact, ProposedFact, Relation
from memory.librarian.rules.dates import find_date
from memory.librarian.rules.engine import RuleEngine
from memory.librarian.rules.language import is_english
from memory.librarian.rules.orders import standing_order
from memory.librarian.rules.retelling import retold
from memory.models.kinds import Kind
from memory.ports.source import Speaker, Utterance
from memory.text.user_text import mask_foreign_text

SATURDAY = datetime(2026, 11, 21, 10, tzinfo=UTC)
LISBON = ZoneInfo("Europe/Lisbon")
FLAGS = {
    "hypothetical": "hypothetical",
    "reported": "reported",
    "about_third_party": "third party",
    "addressed_to_assistant": "to assistant",
    "health": "health",
    "correction": "correction",
}


def read(
    text: str, *, said_at: datetime = SATURDAY, speaker: Speaker = "user", known: tuple[KnownFact, ...] = ()
) -> list[ProposedFact]:
    """What the engine proposes for one message."""
    utterance = Utterance(message_id=7, number=3, speaker=speaker, text=text, said_at=said_at)
    return list(RuleEngine().extract(ExtractionInput([utterance], "Alice", LISBON, known)).facts)


def in_short(fact: ProposedFact) -> str:
    """statement | kind | key=value | flags, without what is empty at the end."""
    key = f"{fact.key}={fact.value}" if fact.key else ""
    flags = ", ".join(word for flag, word in FLAGS.items() if getattr(fact, flag))
    return f"{fact.statement} | {fact.kind.value} | {key} | {flags}".rstrip(" |")


FOUND: list[tuple[str, list[str]]] = [
    # typed in haste, or with something before and behind
    (
        "im vegan and i dont eat honey",
        [
            "The user is vegan. | constraint | diet=vegan",
            "The user does not eat or drink honey. | constraint | diet:honey=no",
        ],
    ),
    (
        "My daughters allergic to bees",
        ["The user's daughter is allergic to bees. | person |  | third party, health"],
    ),
    ("Side note: I work nights.", ["The user works nights. | biography"]),
    ("Given that I'm vegetarian, what can I cook?", ["The user is vegetarian. | constraint | diet=vegetarian"]),
    # people
    (
        "My sister Mary lives in Lisbon and I'm allergic to peanuts",
        [
            "The user's sister Mary lives in Lisbon. | person |  | third party",
            "The user is allergic to peanuts. | constraint | allergy:peanuts=yes | health",
        ],
    ),
    ("my sister mary lives in lisbon", ["The user's sister Mary lives in Lisbon. | person |  | third party"]),
    ("Mary, my sister, lives in Lisbon.", ["The user's sister Mary lives in Lisbon. | person |  | third party"]),
    ("My sister, Mary, lives in Lisbon.", ["The user's sister Mary lives in Lisbon. | person |  | third party"]),
    ("Mary is my sister.", ["The user's sister is called Mary. | person |  | third party"]),
    (
        "My brother's name is Tom. He lives in New York and works at Google.",
        [
            "The user's brother is called Tom. | person |  | third party",
            "The user's brother Tom lives in New York. | person |  | third party",
            "The user's brother Tom works at Google. | person |  | third party",
        ],
    ),
    (
        "My sister Mary works at Google. She has two kids.",
        [
            "The user's sister Mary works at Google. | person |  | third party",
            "The user's sister Mary has two kids. | person |  | third party",
        ],
    ),
    ("I have a friend called João who teaches maths", ["The user's friend is called João. | person |  | third party"]),
    (
        "Is my colleague Priya right about the plug?",
        ["The user's colleague is called Priya. | person |  | third party"],
    ),
    (
        "My wife Ana and I live in Lisbon.",
        [
            "The user lives in Lisbon. | biography | home=Lisbon",
            "The user's wife is called Ana. | person |  | third party",
        ],
    ),
    (
        "My best friend Tom moved to Berlin last year.",
        ["The user's best friend Tom lives in Berlin. | person |  | third party"],
    ),
    ("My dad died in 2019.", ["The user's dad died in 2019. | person |  | third party"]),
    (
        "My mum is a teacher and my dad is retired.",
        [
            "The user's mum is a teacher. | person |  | third party",
            "The user's dad is retired. | person |  | third party",
        ],
    ),
    (
        "My daughter is 4 years old.",
        ["The user's daughter was 4 years old in November 2026. | person |  | third party"],
    ),
    ("My sister's birthday is on May 4.", ["The user's sister has their birthday on 4 May. | person |  | third party"]),
    (
        "My boyfriend is allergic to shellfish.",
        ["The user's boyfriend is allergic to shellfish. | person |  | third party, health"],
    ),
    ("We have two kids, Anna and Ben.", ["The user has two kids, Anna and Ben. | person |  | third party"]),
    ("We have a dog called Rex.", ["The user has a dog called Rex. | entity"]),
    ("My cat Luna hates water", ["The user has a cat called Luna. | entity"]),
    (
        "I'm married to Sarah.",
        [
            "The user is married. | biography | relationship=married",
            "The user is married to Sarah. | person |  | third party",
        ],
    ),
    # name
    ("My name is Sarah Chen.", ["The user's name is Sarah Chen. | identity | name=Sarah Chen"]),
    ("Hi! I’m Sarah, nice to meet you.", ["The user's name is Sarah. | identity | name=Sarah"]),
    ("You can call me Al.", ["The user wants to be called Al. | identity | preferred_name=Al"]),
    ("call me al", ["The user wants to be called Al. | identity | preferred_name=Al"]),
    ("My name is not Bob but Rob.", ["The user's name is Rob. | identity | name=Rob | correction"]),
    ("My name is Sarah, not Sara.", ["The user's name is Sarah. | identity | name=Sarah | correction"]),
    ("My pronouns are they/them.", ["The user's pronouns are they/them. | identity | pronouns=they/them"]),
    # home
    ("I live in Rio de Janeiro.", ["The user lives in Rio de Janeiro. | biography | home=Rio de Janeiro"]),
    (
        "i live in lisbon and work at google",
        [
            "The user lives in Lisbon. | biography | home=Lisbon",
            "The user works at Google. | biography | employer=Google",
        ],
    ),
    ("I live just outside Porto with my parents.", ["The user lives just outside Porto. | biography | home=Porto"]),
    ("I've lived in Lisbon since 2019.", ["The user lives in Lisbon. | biography | home=Lisbon"]),
    ("Actually, I moved to Porto last month.", ["The user lives in Porto. | biography | home=Porto | correction"]),
    ("I moved to Porto in 2010.", ["The user lives in Porto. | biography | home=Porto"]),
    ("I no longer live in Lisbon.", ["The user does not live in Lisbon. | biography |  | correction"]),
    (
        "I used to live in Berlin, but now I live in Porto.",
        ["The user used to live in Berlin. | biography", "The user lives in Porto. | biography | home=Porto"],
    ),
    ("I'm originally from Brazil.", ["The user is from Brazil. | biography | origin=Brazil"]),
    (
        "I was born in Faro and I grew up in Lagos.",
        ["The user was born in Faro. | biography", "The user grew up in Lagos. | biography"],
    ),
    ("I'm Portuguese.", ["The user is Portuguese. | biography"]),
    # work
    (
        "I'm a software engineer at Google.",
        [
            "The user works at Google. | biography | employer=Google",
            "The user is a software engineer. | biography | job=software engineer",
        ],
    ),
    ("I work as a nurse.", ["The user works as a nurse. | biography | job=nurse"]),
    (
        "I live in Porto and work as a nurse.",
        ["The user lives in Porto. | biography | home=Porto", "The user works as a nurse. | biography | job=nurse"],
    ),
    ("I'm retired.", ["The user is retired. | biography | job=retired"]),
    (
        "I work at Google as a data scientist since March 2019",
        [
            "The user works at Google. | biography | employer=Google",
            "The user works as a data scientist. | biography | job=data scientist",
        ],
    ),
    ("I got a new job at Siemens!", ["The user works at Siemens. | biography | employer=Siemens | correction"]),
    # life
    (
        "I'm 34 years old and from Porto.",
        [
            "The user was 34 years old in November 2026. | biography | age=34",
            "The user is from Porto. | biography | origin=Porto",
        ],
    ),
    ("My birthday is May 4th.", ["The user's birthday is 4 May. | biography | birthday=4 May"]),
    ("I was born on 4 May 1990 in Porto.", ["The user was born on 4 May 1990. | biography | birthday=4 May 1990"]),
    ("I speak Portuguese and French.", ["The user speaks Portuguese and French. | biography"]),
    ("My car is a red Toyota.", ["The user's car is a red Toyota. | fact"]),
    ("I play the cello", ["The user plays the cello. | fact"]),
    # body
    (
        "I'm vegetarian and allergic to nuts, what can I cook?",
        [
            "The user is vegetarian. | constraint | diet=vegetarian",
            "The user is allergic to nuts. | constraint | allergy:nuts=yes | health",
        ],
    ),
    (
        "I'm allergic to peanuts, shellfish and penicillin.",
        [
            "The user is allergic to peanuts. | constraint | allergy:peanuts=yes | health",
            "The user is allergic to shellfish. | constraint | allergy:shellfish=yes | health",
            "The user is allergic to penicillin. | constraint | allergy:penicillin=yes | health",
        ],
    ),
    ("I have a peanut allergy.", ["The user is allergic to peanuts. | constraint | allergy:peanuts=yes | health"]),
    ("I'm not allergic to eggs.", ["The user is not allergic to eggs. | constraint | allergy:eggs=no | health"]),
    (
        "I'm no longer allergic to eggs.",
        ["The user is not allergic to eggs. | constraint | allergy:eggs=no | health, correction"],
    ),
    (
        "I'm lactose intolerant.",
        ["The user is lactose intolerant. | constraint | condition:lactose_intolerance=yes | health"],
    ),
    (
        "I have type 2 diabetes.",
        ["The user has type 2 diabetes. | constraint | condition:type_2_diabetes=yes | health"],
    ),
    ("I was diagnosed with ADHD last year", ["The user has ADHD. | constraint | condition:adhd=yes | health"]),
    (
        "I'm not vegetarian any more.",
        ["The user is not vegetarian. | constraint | diet=not vegetarian | correction"],
    ),
    ("I don't eat pork.", ["The user does not eat or drink pork. | constraint | diet:pork=no"]),
    ("I'm on a keto diet.", ["The user's diet is keto. | constraint | diet=keto"]),
    # tastes
    (
        "I love hiking and jazz, but I can't stand crowds.",
        [
            "The user loves hiking and jazz. | preference | taste:hiking_and_jazz=likes",
            "The user dislikes crowds. | preference | taste:crowds=dislikes",
        ],
    ),
    ("I don't like coffee anymore.", ["The user dislikes coffee. | preference | taste:coffee=dislikes | correction"]),
    ("My favourite colour is green.", ["The user's favourite colour is green. | preference | favourite_colour=green"]),
    (
        "Python is my favorite programming language.",
        ["The user's favourite programming language is Python. | preference | favourite_programming_language=Python"],
    ),
    ("When I travel I prefer window seats.", ["The user prefers window seats. | preference"]),
    ("I prefer tea to coffee.", ["The user prefers tea to coffee. | preference"]),
    ("I'm a big fan of Radiohead.", ["The user likes Radiohead. | preference | taste:radiohead=likes"]),
    (
        "I'm 34 and love jazz.",
        [
            "The user was 34 years old in November 2026. | biography | age=34",
            "The user loves jazz. | preference | taste:jazz=likes",
        ],
    ),
    # goals
    ("My goal is to run a marathon.", ["The user's goal is to run a marathon. | goal"]),
    ("I want to learn Portuguese.", ["The user wants to learn Portuguese. | goal"]),
    ("I'm training for a marathon.", ["The user is training for a marathon. | goal"]),
    ("I've decided to quit my job.", ["The user decided to quit their job. | decision"]),
    ("We decided against a second car.", ["The user decided against a second car. | decision"]),
    # orders
    (
        "Always answer in German, please.",
        ["The user wants answers in German. | instruction | answer_language=German | to assistant"],
    ),
    (
        "From now on, keep your answers short.",
        ["The user wants short answers. | instruction | answer_length=short | to assistant"],
    ),
    ("Never use emojis.", ["The user wants the assistant never to use emojis. | instruction |  | to assistant"]),
    (
        "Please respond in French.",
        ["The user wants answers in French. | instruction | answer_language=French | to assistant"],
    ),
    (
        "I'd like you to always cite your sources.",
        ["The user wants the assistant to cite its sources. | instruction |  | to assistant"],
    ),
    (
        "I prefer concise answers",
        ["The user wants concise answers. | instruction | answer_length=concise | to assistant"],
    ),
    ("Use metric units please", ["The user wants metric units. | instruction | units=metric | to assistant"]),
    # events
    ("I'm flying to Tokyo next Friday.", ["The user is flying to Tokyo on Friday, 27 November 2026. | event"]),
    (
        "I have a dentist appointment on Tuesday at 3.",
        ["The user has a dentist appointment on Tuesday, 24 November 2026 at 3. | event"],
    ),
    ("My wedding is on June 5, 2027.", ["The user's wedding is on Saturday, 5 June 2027. | event"]),
    ("I'm starting a new job on Monday", ["The user is starting a new job on Monday, 23 November 2026. | event"]),
    (
        "I went to a pride parade last Friday and it was awesome.",
        ["The user went to a pride parade on Friday, 20 November 2026. | event"],
    ),
    ("I got promoted!", ["The user got promoted. | event"]),
    # flags
    ("I think my sister lives in Porto.", ["The user's sister lives in Porto. | person |  | third party"]),
    (
        "My doctor says I'm allergic to penicillin.",
        ["The user is allergic to penicillin. | constraint | allergy:penicillin=yes | reported, health"],
    ),
    ("Let's pretend my name is Bob", []),
    (
        "My password is hunter2 and I live in Rome.",
        ["The user told something that is never stored. | fact", "The user lives in Rome. | biography | home=Rome"],
    ),
    ("My card number is 4111 1111 1111 1111.", ["The user told something that is never stored. | fact"]),
    ("I work at night.", ["The user works at night. | biography"]),
    ("I work from home.", ["The user works from home. | biography"]),
    # in the user's own words
    ("I got a greyhound two weeks ago", ["The user got a greyhound on Saturday, 7 November 2026. | entity"]),
    ("broke my wrist yesterday", ["The user broke their wrist on Friday, 20 November 2026. | event"]),
    ("nut allergy here, so no almonds", ["The user has nut allergy here, so no almonds. | constraint |  | health"]),
    ("My horse is insulin resistant.", ["The user's horse is insulin resistant. | entity"]),
    ("I swim 3 times a week before work.", ["The user swims 3 times a week before work. | procedure"]),
    (
        "whenever i paste German text give me the English first, ok?",
        [
            "The user tells the assistant: whenever the user pastes German text give the user the English first."
            " | instruction |  | to assistant"
        ],
    ),
]
"""A message and what it says: statement | kind | key=value | flags."""

RETOLD = [
    ("I always prefer short answers.", "the user always prefers short answers"),
    ("When I ask for code, I prefer Python.", "When the user asks for code, the user prefers Python"),
    ("Whenever I chat with you, I want bullet points.",
     "Whenever the user chats with the assistant, the user wants bullet points"),
    ("I need you to always answer in one line.", "the user needs the assistant to always answer in one line"),
    ("I expect your answers in French from now on.", "the user expects its answers in French from now on"),
    ("When I don't understand, always explain it again.",
     "When the user does not understand, always explain it again"),
    ("When I do not understand, always explain it again.",
     "When the user does not understand, always explain it again"),
    ("Whenever I have a meeting, remind me to drink water.",
     "Whenever the user has a meeting, remind the user to drink water"),
    ("Whenever I really go for it, remind me of my knees.",
     "Whenever the user really goes for it, remind the user of the user's knees"),
    ("In future, when I study Spanish, correct what I write.",
     "In future, when the user studies Spanish, correct what the user writes"),
    ("Never suggest pork, I am Muslim.", "Never suggest pork, the user is Muslim"),
    ("Never suggest nuts, I've had enough of them.", "Never suggest nuts, the user has had enough of them"),
    ("Never suggest pork, since we don't eat it.", "Never suggest pork, since they don't eat it"),
    ("From now on, when we have a plan, write it down.", "From now on, when they have a plan, write it down"),
    ("Always answer in German unless I say otherwise.", "Always answer in German unless the user says otherwise"),
    ("Please always answer as I would.", "Please always answer as the user would"),
    ("Whenever I ask what I said, tell me when I was wrong.",
     "Whenever the user asks what the user said, tell the user when the user was wrong"),
    ("Please always use metric if I cook.", "Please always use metric if the user cooks"),
    ("Please always use metric if my sister and I cook.",
     "Please always use metric if the user's sister and the user cook"),
    ("If you don't know, always tell me what you need.",
     "If the assistant does not know, always tell the user what the assistant needs"),
    ("Always ask what do I want.", "Always ask what does the user want"),
    ('Never end with "I hope you have what you need".', 'Never end with "I hope you have what you need"'),
]  # fmt: skip
"""An order, and how it is told by another: each verb agrees with who does it."""


@pytest.mark.parametrize(("said", "told"), RETOLD)
def test_the_verbs_of_an_order_agree_with_who_does_it(said: str, told: str) -> None:
    assert standing_order(said[:-1], said[-1]) == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I don't like long answers", "The user does not like long answers"),
        ("We have a rule about phones at dinner", "The user has a rule about phones at dinner"),
        ("I always use metric", "The user always uses metric"),
        ("I need glasses for reading", "The user needs glasses for reading"),
        ("I never carry cash", "The user never carries cash"),
        ("I fix bikes on Sundays", "The user fixes bikes on Sundays"),
        ("I sang in a choir", "The user sang in a choir"),
    ],
)
def test_the_verb_of_what_is_said_of_oneself_agrees(said: str, told: str) -> None:
    assert retold(said) == told


NOTHING = {
    "a question": "Where does my sister live?",
    "a sign": "The sign says: I live in Oslo",
    "a game": "Imagine the following. I'm a pirate and I live in Tortuga.",
    "role play": "role play: I'm the tenant, my name is Laura and I've lived here for 12 years.",
    "a text to work on": "Put into passive voice: My father built our house in 1962.",
    "a choice between wordings": "Which is right: I live in Rome or I am living in Rome?",
    "a table to work on": "Fix this csv parser for me:\nname,age\nI live in Rome",
    "what is set apart by a line": "What do you make of this?\n---\nI'm a vegan and I live in Rome.",
    "what the assistant believes": "You still think I live in Lisbon",
    "somebody else is meant": "It's not my sister who lives in Porto.",
    "a transcript": "Who talks most?\nA: I'm vegetarian.\nB: I work at the port.",
    "a novel": "In my novel Marta lives in Oslo. I live in her head.",
    "a claim of the boss": "my boss says I'm a nurse",
    "an order for this answer": "don't use bullet points in this text, it's a letter",
    "a question without its mark": "where does my sister live",
    "a question for confirmation": "My sister lives in Lisbon, right?",
    "a question about oneself": "Do I live in Lisbon?",
    "a polite question": "Could you tell me if I'm allergic to peanuts?",
    "a condition": "If I lived in Paris, I would be happy.",
    "a wish": "I wish I lived in Rome.",
    "a plan that hangs on an if": "If I get a dog, I'll call him Rex.",
    "a made-up story": "Write a story where I live in Paris and I'm called Max.",
    "a letter to be written": "Draft a letter saying that I'm allergic to peanuts and I live in Rome.",
    "a quotation": "The poster said “I live in Lisbon and I'm allergic to peanuts”.",
    "a quotation in straight quotes": 'He wrote "My name is Hans" on the wall.',
    "a quoted line": "> I live in Berlin",
    "code": "```\nI live in Berlin\n```",
    "inline code": "Rename it to `I live in Berlin`.",
    "a pasted mail": "Here's the email I got:\nHi, I'm Sam.\nI live in Leeds.",
    "a mail with its head": "From: sam@example.org\nSubject: hello\n\nMy name is Sam and I live in Leeds.",
    "a forwarded mail": "On Monday Sam wrote:\nMy name is Sam and I live in Leeds.",
    "a tagged document": "<document>My name is Sam. I live in Leeds.</document>",
    "a text to translate": "Translate this: I live in Lisbon",
    "a text to proofread": "Please proofread this letter:\n\nI live in Leeds and my name is Sam.",
    "German": "Ich wohne in Berlin und mein Name ist Hans.",
    "French": "Ma sœur Marie habite à Paris et je suis allergique aux noix.",
    "Spanish": "Me llamo Ana y vivo en Madrid con mi hermana.",
    "Portuguese": "A minha irmã Maria mora em Lisboa e eu sou vegetariano.",
    "Chinese": "我住在上海，我对花生过敏。",
    "Russian": "Меня зовут Анна, я живу в Москве.",
    "an adjective, no name": "I'm tired.",
    "a doing, no name": "I'm working on a bug.",
    "fear, no place": "I live in fear of spiders.",
    "a sofa, no city": "I moved to the sofa.",
    "mornings, no allergy": "I'm allergic to mornings.",
    "later, no name": "Call me back tomorrow.",
    "a word about the answer": "I like your answer.",
    "one of the options": "I prefer the second option.",
    "a thing that is not named": "I love it!",
    "a turn of phrase": "I hate to say this, but it's wrong.",
    "a motto": "Never give up.",
    "a request": "I'd like to know more about Lisbon.",
    "a passing state": "I have a question about next week.",
    "today's errand": "I'm going to the shop today.",
    "a pronoun for nobody": "She lives in Rome.",
    "a joke about a beginner": "I'm a beginner.",
    "a bare verb behind want": "I want to sit down and eat.",
    "empty": "",
    "spaces": "   \n\t ",
}
"""Why not, and a message of which nothing may be proposed."""


@pytest.mark.parametrize(("message", "facts"), FOUND, ids=[message for message, _ in FOUND])
def test_a_message_says_what_the_table_holds(message: str, facts: list[str]) -> None:
    assert [in_short(fact) for fact in read(message)] == facts


@pytest.mark.parametrize("message", NOTHING.values(), ids=NOTHING.keys())
def test_nothing_is_proposed_for(message: str) -> None:
    assert [in_short(fact) for fact in read(message)] == []


@pytest.mark.parametrize("message", [message for message, _ in FOUND])
def test_each_quote_stands_in_the_message(message: str) -> None:
    assert all(fact.quote in message and fact.number == 3 for fact in read(message))


def test_two_claims_in_one_sentence_are_quoted_apart() -> None:
    quotes = [fact.quote for fact in read("My sister Mary lives in Lisbon and I'm allergic to peanuts.")]
    assert quotes == ["My sister Mary lives in Lisbon", "I'm allergic to peanuts"]


def test_a_quote_reaches_back_to_the_name_that_she_stands_for() -> None:
    facts = read("My sister Mary is a nurse. She lives in Lisbon.")
    assert facts[1].statement == "The user's sister Mary lives in Lisbon."
    assert facts[1].quote == "My sister Mary is a nurse. She lives in Lisbon"


def test_he_is_never_the_sister() -> None:
    assert [fact.statement for fact in read("My sister Mary is a nurse. He lives in Lisbon.")] == [
        "The user's sister Mary is a nurse."
    ]


def test_what_the_assistant_wrote_is_no_evidence() -> None:
    assert read("My sister Mary lives in Lisbon", speaker="assistant") == []


def test_a_curly_apostrophe_is_read_and_quoted_as_it_was_written() -> None:
    assert read("I’m allergic to peanuts.")[0].quote == "I’m allergic to peanuts"


def test_a_doubt_is_less_sure_than_a_claim() -> None:
    doubted, claimed = read("I think I live in Lisbon.")[0], read("I live in Lisbon.")[0]
    assert doubted.confidence < 0.8 <= claimed.confidence


def test_an_allergy_matters_more_than_a_taste() -> None:
    assert read("I'm allergic to peanuts")[0].importance > 0.5 > read("I like peanuts")[0].importance


def test_a_year_says_from_when_it_is_true() -> None:
    assert read("I've lived in Lisbon since 2019.")[0].valid_from == datetime(2019, 1, 1, tzinfo=LISBON)


def test_an_old_move_corrects_nothing() -> None:
    old, new = read("I moved to Porto in 2010.")[0], read("I moved to Porto.")[0]
    assert (old.correction, new.correction) == (False, True)
    assert old.confidence < 0.8


def test_a_home_that_is_left_is_taken_back_only_if_it_is_the_known_one() -> None:
    home = KnownFact(
        5,
        "The user lives in Lisbon.",
        Kind.BIOGRAPHY,
        "home",
        "Lisbon",
        0.95,
        "active",
        "I live in Lisbon",
        SATURDAY,
        1,
    )
    (left,) = read("I no longer live in Lisbon.", known=(home,))
    assert (left.key, left.relation, left.related_to) == ("home", Relation.UPDATES, 1)
    (other,) = read("I no longer live in Berlin.", known=(home,))
    assert (other.key, other.relation) == ("", Relation.NONE)


# Dates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("tomorrow", "on Sunday, 22 November 2026"),
        ("the day after tomorrow", "on Monday, 23 November 2026"),
        ("yesterday", "on Friday, 20 November 2026"),
        ("on Saturday", "on Saturday, 28 November 2026"),
        ("this Friday", "on Friday, 27 November 2026"),
        ("next Friday", "on Friday, 27 November 2026"),
        ("last Saturday", "on Saturday, 14 November 2026"),
        ("in 3 days", "on Tuesday, 24 November 2026"),
        ("two weeks ago", "on Saturday, 7 November 2026"),
        ("in two months", "in January 2027"),
        ("next week", "in the week of 23 November 2026"),
        ("next month", "in December 2026"),
        ("last year", "in 2025"),
        ("on 4 May", "on Tuesday, 4 May 2027"),
        ("December 12th", "on Saturday, 12 December 2026"),
        ("on the 5th of June 2027", "on Saturday, 5 June 2027"),
        ("Sunday 2 May", "on Sunday, 2 May 2027"),
        ("on Wed 18 November", "on Wednesday, 18 November 2026"),  # the year in which it is a Wednesday
        ("Tuesday the 24th", "on Tuesday, 24 November 2026"),
        ("on Halloween", "on Sunday, 31 October 2027"),
        ("on New Year's Eve", "on Thursday, 31 December 2026"),
        ("Christmas Day next year", "on Saturday, 25 December 2027"),
        ("2026-12-24", "on Thursday, 24 December 2026"),
        ("in March", "in March 2027"),
        ("in March 2024", "in March 2024"),
        ("on 31 June", None),
        ("some day", None),
    ],
)
def test_a_date_in_words_is_a_day_of_the_calendar(words: str, meant: str | None) -> None:
    found = find_date(words, SATURDAY.date())
    assert (found.words if found else None) == meant


def test_tomorrow_is_meant_in_the_users_own_time_zone() -> None:
    late = datetime(2026, 11, 21, 23, 30, tzinfo=UTC)
    utterance = Utterance(1, 1, "user", "I have a dentist appointment tomorrow", late)
    facts = RuleEngine().extract(ExtractionInput([utterance], "", ZoneInfo("Asia/Tokyo"))).facts
    assert facts[0].statement == "The user has a dentist appointment on Monday, 23 November 2026."


def test_next_friday_said_on_a_monday_is_not_sure() -> None:
    monday = datetime(2026, 11, 23, 10, tzinfo=UTC)
    (fact,) = read("I'm flying to Tokyo next Friday", said_at=monday)
    assert fact.value == "2026-12-04"
    assert fact.confidence < 0.8


def test_a_day_in_the_past_is_the_last_one() -> None:
    assert "3 May 2026" in read("I attended a workshop on May 3")[0].statement


# Own words and language ------------------------------------------------------------------------------------------


@given(st.text(max_size=400))
@settings(max_examples=200, deadline=None)
def test_blanking_out_keeps_every_position(text: str) -> None:
    own = mask_foreign_text(text)
    assert len(own) == len(text)
    assert all(kept in (" ", char) for kept, char in zip(own, text, strict=True))


def test_a_height_in_inches_opens_no_quotation() -> None:
    text = 'I\'m 5\'10" tall, my sister Mary lives in Lisbon and she says "hi"'
    assert mask_foreign_text(text).startswith("I'm 5'10\" tall, my sister Mary lives in Lisbon")


@pytest.mark.parametrize("name", ["call me al", "My sister María lives in São Paulo.", "I love La La Land"])
def test_foreign_names_leave_a_sentence_english(name: str) -> None:
    assert is_english(name)


def test_the_english_half_of_a_message_is_read() -> None:
    assert [fact.value for fact in read("Ich wohne in Berlin. My name is Hans.")] == ["Hans"]


# Any input -------------------------------------------------------------------------------------------------------

_PIECES = st.sampled_from(
    [
        "I'm ", "my sister ", "and ", "allergic to ", "lives in ", " ", ",", ".", "!", "\n", '"', "“", "'", "`", "> ",
        "(", "<document>", "Mary", "Lisbon", "a", "if ", "I think ", "since ", "next ", "4 ", "May ",
        "always ", "well, ",
    ]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=60).map("".join) | st.text(max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_message_gives_quotes_that_stand_in_it(message: str) -> None:
    assert all(fact.quote in message for fact in read(message))


@given(st.lists(_PIECES, min_size=1, max_size=4).map("".join))
@settings(max_examples=40, deadline=None)
@pytest.mark.timeout(120)
def test_a_hundred_thousand_characters_of_anything_come_to_an_end(piece: str) -> None:
    """No time is measured: with catastrophic backtracking one of these would run for hours."""
    message = (piece * (100_000 // len(piece) + 1))[:100_000]
    assert all(fact.quote in message for fact in read(message))


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "char", [" ", ",", ".", "a", "I ", "'", '"', "“", "and ", "my ", "\n", "- ", "i'm ", "1", "well "]
)
def test_a_hundred_thousand_of_one_character_come_to_an_end(char: str) -> None:
    read((char * 100_000)[:100_000] + "x")
    mask_foreign_text((char * 400_000)[:400_000] + "x")
