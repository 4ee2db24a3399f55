"""What does the rule engine take from sentences that no row of its tables knows, and what does it leave alone?

One test a rule of grammar; none of the sentences stands in a labelled set.
"""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from memory.librarian.engine import ExtractionInput
from memory.librarian.rules.engine import RuleEngine
from memory.librarian.rules.plain import plainly_said
from memory.librarian.rules.presupposed import presupposed
from memory.ports.source import Utterance

WEDNESDAY = datetime(2026, 2, 4, 10, tzinfo=UTC)


def told(message: str) -> list[str]:
    """The statements proposed for one message."""
    utterance = Utterance(1, 1, "user", message, WEDNESDAY)
    return [
        one.statement for one in RuleEngine().extract(ExtractionInput([utterance], "", ZoneInfo("Europe/London"))).facts
    ]


def test_a_plain_claim_that_fits_no_row_is_put_to_the_user_and_never_kept_unasked() -> None:
    utterance = Utterance(1, 1, "user", "Our startup makes hearing tests for kids.", WEDNESDAY)
    (fact,) = RuleEngine().extract(ExtractionInput([utterance], "", ZoneInfo("UTC"))).facts
    assert fact.statement == "The user's startup makes hearing tests for kids."
    assert fact.confidence < 0.8


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "I observe shabbat so nothing on weekends.": "The user observes shabbat so nothing on weekends.",
        "I've kept a diary since I was eleven.": "The user has kept a diary since they were eleven.",
        "We'd sooner walk two hours than take a taxi.": "The user would sooner walk two hours than take a taxi.",
        "I can't stand for long because of my hip.": "The user cannot stand for long because of their hip.",
        "I got given a Moka pot for my 30th.": "The user got given a Moka pot for their 30th.",
    }.items(),
)
def test_any_verb_will_do_where_the_user_is_the_subject(message: str, statement: str) -> None:
    assert statement in told(message)


@pytest.mark.parametrize(
    "message",
    [
        "I'm here for you.",
        "I’m here.",
        "We're here already.",
        "Everyone here is nice.",
        "Winter here is cold.",
        "Thankfully, my son is fine.",
        "Hopefully, our dog gets well.",
    ],
)
def test_what_stands_where_a_name_would_is_not_taken_for_one(message: str) -> None:
    assert not any("name is" in one or "is called" in one for one in told(message))


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "Maria here, I need a plan.": "The user's name is Maria.",
        "Maria here from Lisbon": "The user's name is Maria.",
        "Emily here!": "The user's name is Emily.",
        "O'Brien here.": "The user's name is O'Brien.",
        "Sally, my sister, is a nurse.": "The user's sister is called Sally.",
    }.items(),
)
def test_a_name_is_taken_wherever_it_stands(message: str, statement: str) -> None:
    assert statement in told(message)


def test_what_it_is_called_may_be_anything_and_is_only_asked_for() -> None:
    utterance = Utterance(1, 1, "user", "It's Paris.", WEDNESDAY)
    facts = RuleEngine().extract(ExtractionInput([utterance], "", ZoneInfo("UTC"))).facts
    assert all(fact.confidence < 0.8 for fact in facts)


@pytest.mark.parametrize(
    "message",
    [
        "It's been ages since we last spoke.",
        "We all have our own ways of coping with my family.",
        "We have each other's back through my good years.",
        "Their support keeps me going through the winter months.",
        "It's a great chance for me to show my work.",
        "We work so well together.",
        "My neighbourhood deserves it.",
        "The kids loved it.",
        "I felt accepted by my friends.",
        "My family has been so awesome.",
        "Our youngest looks really cute.",
        "I won't quit.",
        "I definitely will.",
        "Sharing our stories isn't always easy.",
        "Being out in nature, I feel calm.",
        "Gonna be a great night.",
        "I'm on the fence about the blue sofa.",
        "As a teacher, how would you explain this?",
        "my phone's at 3%",
        "Kids are so creative!",
        "My favourite part of your answer was the bit about trains.",
        "My favorite line in that poem is the last one.",
        "Can you proofread this? I worked at Siemens from 2010 to 2014.",
        "Our teacher gave us this: My brother has three apples and I have five.",
        "I almost bought a boat last year.",
        "I'm a big fan of yours!",
        "I've got 5 minutes before my meeting",
        "I have two eggs and some flour, what can I bake?",
        "I get error 404 when I log in",
        "We live in a society.",
        "I've changed my mind.",
        "My first thought was to leave.",
        "When I was little I wanted to be an astronaut.",
        "I can't eat another bite",
        "I'm between a rock and a hard place.",
        "I'm not a doctor, but that rash looks odd.",
        "I speak from experience.",
        "I prefer option B.",
        "I ran the tests and they failed twice.",
        "I have a dataset of 3,000 patients in Leeds.",
        "My point is that trams are better.",
        "Give me ten sentences in the past tense, such as I walked my dog in Paris.",
        "Finish the story: I woke up in my grandmother's attic and my hands were made of glass.",
        "As an exercise, my company sells 200 units at 15 dollars each.",
        "I have approximately nine hundred browser tabs open.",
        "I could eat my own arm right now.",
        "My dream self runs marathons, the real me runs baths.",
        "Love and acceptance can be found everywhere.",
        "Love having you in my corner.",
        "Work setup looks nice.",
        "Seeing my students succeed motivates me.",
        "They give me peace.",
        "Look, my guinea pig!",
        "I'm staying positive.",
        "I've been doing great lately.",
        "Enjoy the weekend!",
        "Love the tattoo.",
        "Been a few days since we talked.",
    ],
)
def test_what_tells_nothing_of_the_user_is_not_put_to_them(message: str) -> None:
    assert told(message) == []


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "We last visited Oslo in 2019.": "Oslo",
        "My daughter is great at chess.": "great at chess",
        "I knew my wife since school in Turin.": "Turin",
        "I've got three old maps, like my Ordnance Survey one.": ", like their Ordnance Survey one",
    }.items(),
)
def test_what_only_looks_like_it_is_not_lost(message: str, statement: str) -> None:
    assert any(statement in one for one in told(message))


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "Crowds make me panic so which days is the museum empty": "Crowds make the user panic.",
        "A former flatmate invited us to Turin.": "A former flatmate invited the user to Turin.",
        "Two rescue greyhounds live with us.": "Two rescue greyhounds live with the user.",
        "Lagos is where I spend the winters.": "Lagos is where the user spends the winters.",
    }.items(),
)
def test_what_others_do_to_the_user_is_told_of_the_user(message: str, statement: str) -> None:
    assert statement in told(message)


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "The band is called Wet Socks.": "The band is called Wet Socks.",
        "The eldest wants a motorbike at 17.": "The user's eldest wants a motorbike at 17.",
        "Both my parents are deaf, which doorbell flashes?": "Both the user's parents are deaf.",
        "The firm I work for makes lifts.": "The firm the user works for makes lifts.",
    }.items(),
)
def test_the_band_is_the_users_own_where_more_is_said_of_it(message: str, statement: str) -> None:
    assert statement in told(message)


@pytest.mark.parametrize(
    "words",
    [
        "I need a plan for your next answer",
        "I like this one",
        "my hands are cold right now",
        "I'm worried about it",
        "I burnt the toast",
        "I'm standing in the kitchen with wet hands",
        "I want to make sure it works",
    ],
)
def test_the_talk_what_points_back_what_passes_and_moods_are_refused(words: str) -> None:
    assert plainly_said(words) is None


@pytest.mark.parametrize(
    "message",
    [
        "I've increased the accuracy rate to 80% in my code since Monday.",
        "Exercise 4: I have a cat in Paris. Fill in the gaps.",
        "If I had a third child I would move. Two owls live with us.",
        "I have a car called Bertha in the game, how do I paint it?",
        "My uncle leaves York at 10 at 20 km/h, my aunt leaves Hull at 9 at 30 km/h. When do they meet?",
        "sure, my yacht has five decks 🙄 cheap ferries?",
    ],
)
def test_nothing_plain_is_taken_from_work_exercises_suppositions_games_and_irony(message: str) -> None:
    assert told(message) == []


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "Can my 20-year-old parrot fly to Spain?": "The user has a 20-year-old parrot.",
        "Is a wood stove stupid with my asthma?": "The user has asthma.",
        "Does my Kobo read epub files": "The user has a Kobo.",
        "how do i clean a cast iron pan i got from my nan": "The user got a cast iron pan from their nan.",
        "As a Glaswegian I should know this, when is Burns night?": "The user is a Glaswegian.",
        "Can someone with a Brazilian passport like me enter Canada?": "The user has a Brazilian passport.",
        "Which train goes from Ghent (home) to Lille?": "The user's home is Ghent.",
        "More films like Aftersun please, I cried and loved it": "The user loved Aftersun.",
        "Could a whippet live with three guinea pigs (Tea and Toast and Jam)?": (
            "The user has three guinea pigs, Tea and Toast and Jam."
        ),
    }.items(),
)
def test_a_question_takes_for_granted_what_it_asks_about(message: str, statement: str) -> None:
    assert statement in told(message)


@pytest.mark.parametrize(
    "text",
    [
        "if my old cat were ill, what then",
        "my phone is dead",
        "it's not my old dog",
        "write a song where my old cat sings",
    ],
)
def test_nothing_is_granted_that_is_supposed_denied_made_up_or_bare(text: str) -> None:
    assert list(presupposed(text, [])) == []


def test_what_a_claim_has_told_is_not_granted_once_more() -> None:
    assert [*presupposed("my old cat is ill", ["The user's old cat is ill."])] == []


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "what can i cook tonight im vegan": "The user is vegan.",
        "Can we sell the car now that we live near a station?": "The user lives near a station.",
        "our son hates noise, headphones and all, and the party is in a disco??": (
            "The user's son hates noise, headphones and all."
        ),
        "how loud is it, moved here from Recife in May": "The user moved here from Recife in May 2025.",
    }.items(),
)
def test_behind_a_question_stands_what_it_rests_on(message: str, statement: str) -> None:
    assert statement in told(message)


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "Sold the flat in Leeds last year.": "The user sold the flat in Leeds in 2025.",
        "moonlighting as a DJ on weekends": "The user is moonlighting as a DJ on weekends.",
        "usually wake up at 3 with the radio blaring": "The user usually wakes up at 3 with the radio blaring.",
        "Year 11 here, what next": "The user is in Year 11.",
        "retired electrician, what can I still do": "The user is a retired electrician.",
    }.items(),
)
def test_who_is_left_out_is_known_by_the_form_of_the_verb(message: str, statement: str) -> None:
    assert statement in told(message)


def test_a_gerund_with_a_verb_of_its_own_leaves_nobody_out() -> None:
    assert told("Searching for a flat in Leeds has been hard.") == []


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "Is a BSc worth it? Mine is in botany, from Hull.": "The user's BSc is in botany, from Hull.",
        "What do I get my gran? Loves crosswords and gin.": "The user's gran loves crosswords and gin.",
        "Best friend since school is moving. She has two toddlers.": "The user's best friend has two toddlers.",
        "In my choir there is a man, Otto, who is blind.": "There is a man, Otto, who is blind in the user's choir.",
    }.items(),
)
def test_mine_and_she_are_told_by_what_they_stand_for(message: str, statement: str) -> None:
    statements = told(message)
    assert statement in statements or any("Otto, who is blind" in one for one in statements)


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "Since the stroke my left hand is weak.": "The user's left hand is weak since the stroke.",
        "As a Quaker I avoid gin.": "The user avoids gin as a Quaker.",
        "Mondays and Thursdays I work from home.": "The user works from home mondays and Thursdays.",
    }.items(),
)
def test_what_stands_before_the_subject_is_told_behind_it(message: str, statement: str) -> None:
    assert statement in told(message)


def test_an_if_behind_a_claim_is_told_with_it_and_one_before_it_takes_it_away() -> None:
    assert told("I take the tram on Mondays if it rains.") == ["The user takes the tram on Mondays if it rains."]
    assert told("If it rains on Monday, I take the tram to work.") == []


def test_what_stands_before_somebodys_claim_is_the_users_own() -> None:
    assert told("call me Bex, only my nan says Rebecca") == ["The user wants to be called Bex."]


@pytest.mark.parametrize(
    "message",
    [
        "From now on leave the jokes out, would you.",
        "You don't need to apologise every time.",
        "I'd rather you skipped the pep talk.",
        "I prefer it when you ask me one question at a time.",
        "Speak to me like a colleague. Every time.",
        "recipes: grams not cups, that's the standing rule",
        "if you quote prices, quote them in zloty",
    ],
)
def test_what_makes_an_order_stand_lets_any_verb_order(message: str) -> None:
    assert any(one.startswith("The user tells the assistant: ") for one in told(message))


@pytest.mark.parametrize("message", ["Never trust a cat.", "never been to Spain", "always great talking to you"])
def test_always_and_never_alone_make_no_order(message: str) -> None:
    assert not any(one.startswith("The user tells the assistant") for one in told(message))


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "i clean offices at night and study in the day": "The user cleans offices at night and studies in the day.",
        "I work in Delft but sleep in Leiden.": "The user works in Delft but sleeps in Leiden.",
        "We're a team of five at a small brewery.": "The user is part of a team of five at a small brewery.",
        "We retook the test in Hull in May.": "The user retook the test in Hull in May 2025.",
    }.items(),
)
def test_a_retold_sentence_is_grammatical(message: str, statement: str) -> None:
    assert statement in told(message)


def test_a_password_in_words_of_its_own_is_told_by_nobody() -> None:
    assert told("my streaming pw is Tr0ub4dor&9, is that ok") == []


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "Kids are 5 and 7, both vegetarian.": "The user's kids are 5 and 7, both vegetarian.",
        "what does it mean when my cat blinks slowly": "The user's cat blinks slowly.",
        "my cat biscuit is sick": "The user has a cat called Biscuit.",
        "I'm not a vegetarian.": "The user is not vegetarian.",
        "I'm no longer vegan.": "The user is not vegan any more.",
        "I just moved back to Vienna from Graz.": "The user lives in Vienna.",
        "We broke up, so forget what I said about Tom.": "The user broke up.",
    }.items(),
)
def test_a_statement_says_no_more_than_the_words_do(message: str, statement: str) -> None:
    assert told(message)[:1] == [statement]


def test_what_has_been_so_since_a_day_began_on_the_last_one() -> None:
    assert told("The heating in our flat has been off since Tuesday.") == [
        "The heating in the user's flat has been off since Tuesday, 3 February 2026."
    ]


def test_nobody_dislikes_what_they_cannot_do_for_long() -> None:
    assert not any("dislikes" in one for one in told("I can't stand up for long because of my back."))


@pytest.mark.parametrize(
    "message",
    [
        "I don't think I'm lactose intolerant.",
        "I can't say that I like opera.",
        "I wouldn't say I'm a runner.",
        "I'm not sure I'm allergic to nuts.",
        "It's not true that I'm from Ohio.",
    ],
)
def test_what_is_denied_is_not_claimed(message: str) -> None:
    assert told(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "My blood type is espresso.",
        "my one true love is my air fryer, how do i clean it",
        "i was raised by wolves so explain which fork to use",
        "My landlord is Voldemort. How do I ask for repairs?",
        "my retirement plan is the lottery, how do index funds work",
        "I run a zoo (three kids under five). quick dinners?",
        "I'm the proud CEO of my own couch.",
        "I was born tired.",
        "My cat is my landlord.",
        "My boss is a dinosaur.",
        "My toddler is a tiny dictator.",
        "I have the attention span of a goldfish.",
        "I have a degree in overthinking.",
        "My wallet is on a diet.",
        "I married my mattress.",
        "My diet is 90% cheese.",
        "My mother-in-law is a saint, said no one ever.",
    ],
)
def test_a_figure_of_speech_is_no_fact(message: str) -> None:
    assert told(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "My blood type is AB.",
        "I have a degree in physics.",
        "I married my boss.",
        "I'm 90% deaf.",
        "My boss is a chemist.",
    ],
)
def test_what_only_looks_like_a_figure_of_speech_is_read(message: str) -> None:
    assert told(message) != []


def test_what_is_added_for_the_listener_is_no_part_of_the_claim() -> None:
    assert told("I have no sister, you're confusing me with someone.") == ["The user has no sister."]


def test_what_somebody_quits_is_no_employer_unless_it_is_called_like_one() -> None:
    assert not any("job" in one for one in told("I quit coffee, I only drink tea now."))
    assert told("I quit Bosch.") == ["The user left their job at Bosch."]


def test_where_living_is_the_subject_nobody_is_left_out() -> None:
    assert "The user is living in Prague as a vegan is hard." not in told("Living in Prague as a vegan is hard.")


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "I can't believe my daughter is 18": "The user's daughter was 18 years old in February 2026.",
        "My boss doesn't believe I have ADHD.": "The user has ADHD.",
        "I need a keyboard for practice. I live in Leeds.": "The user lives in Leeds.",
        "As a vegetarian, what would you cook?": "The user is vegetarian.",
        "As an experiment, I stopped eating meat in January.": "The user stopped eating meat in January 2026.",
        "I want to finish my poem. I'm allergic to nuts.": "The user is allergic to nuts.",
        "Please fix this for me. I have ADHD.": "The user has ADHD.",
        "My doctor sent me this: my cholesterol is 240. I'm on statins.": "The user is on statins.",
        "I left the BBC.": "The user left their job at the BBC.",
        "i left google last week": "The user left their job at Google.",
        "I feel dizzy every time I stand up": "The user feels dizzy every time they stand up.",
        "I have a headache every morning": "The user has a headache every morning.",
        "My wife works at 60%": "The user's wife works at 60%.",
        "I almost died in a car accident in 2015": "The user almost died in a car accident in 2015.",
        "We have two kids together": "The user has two kids together.",
        "My son is a goat farmer": "The user's son is a goat farmer.",
        "My dog is a Saint Bernard called Max": "The user's dog is a Saint Bernard called Max.",
        "Call me Summer.": "The user wants to be called Summer.",
        "I identify as non-binary.": "The user identifies as non-binary.",
        "My neighbour's drumming keeps me awake.": "The user's neighbour's drumming keeps them awake.",
        "Live just outside York.": "The user lives just outside York.",
        "I married my best friend in 2012.": "The user married their best friend in 2012.",
    }.items(),
)
def test_what_only_sounds_like_talk_a_joke_or_an_exercise_is_read(message: str, statement: str) -> None:
    assert statement in told(message)


@pytest.mark.parametrize("message", ["I almost finished my PhD in physics.", "I almost lost my job at Siemens."])
def test_nothing_is_taken_for_granted_within_what_is_not_so(message: str) -> None:
    assert told(message) == []


def test_where_somebody_lives_is_not_what_they_are_called() -> None:
    assert not any("name" in one for one in told("Live here with my wife and two cats."))


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        # said late, or instead of something said before
        "I forgot to mention that we keep four hives.": "The user keeps four hives.",
        "I should have said that we own a sawmill in Tartu.": "The user owns a sawmill in Tartu.",
        "Ignore what I said about the boat, we moved to Bergen.": "The user lives in Bergen.",
        # what stands before the subject
        "By next summer I'd like to run a marathon.": "The user would like to run a marathon by next summer.",
        "One of these days I want to see Iceland.": "The user wants to see Iceland.",
        "In 2019 the three of us went to Peru.": "The user went to Peru in 2019.",
        # whose “the” is
        "The youngest, Piet, has a wobbly tooth.": "The user's youngest is called Piet.",
        "Is my nine-year-old, Zoe, too young for chess?": "The user's nine-year-old is called Zoe.",
        "The woman next door, Mrs. Okafor, sings all day.": "The user's neighbour is called Mrs. Okafor.",
        "Pepper, our one-eyed spaniel, chews shoes.": "The user has a spaniel called Pepper.",
        # the “I” left out
        "Thirty-one years in the merchant navy and still seasick.": "The user has been thirty-one years in the merchant"
        " navy and still seasick.",
        "In my second year of botany at Graz.": "The user is in their second year of botany at Graz.",
        "Had my tonsils out in 2011 and I still choke easily.": "The user had their tonsils out in 2011.",
        "Evening classes in Welsh, twice a week.": "The user takes evening classes in Welsh, twice a week.",
        "Three goats, one of them blind.": "The user has three goats, one of them blind.",
        # others made them so; they promised it; they will do anything of the kind
        "They made me head of sales in March.": "They made the user head of sales in March 2025.",
        "I promised myself I'd learn the cello before I retire.": "The user promised themselves they'd learn the cello"
        " before they retire.",
        "I'll read anything by Ali Smith.": "The user will read anything by Ali Smith.",
        "What I miss most is the sea.": "What the user misses most is the sea.",
        "We've come back to Cork.": "The user has come back to Cork.",
        "We took in a stray cat on Monday.": "The user took in a stray cat on Monday, 2 February 2026.",
        "Every Sunday it's soup at my mother's.": "Every Sunday it's soup at the user's mother's.",
        "The movers come on 12 June.": "The movers come on Friday, 12 June 2026.",
        "A scan on Friday, and I'm claustrophobic.": "The user is claustrophobic.",
        "The agency I'm with sells bicycles.": "The agency the user is with sells bicycles.",
        "Nobody calls me anything but Bo.": "The user wants to be called Bo.",
        "My tenancy ends on 1 July and nobody has said a word.": "The user's tenancy ends on Wednesday, 1 July 2026 and"
        " nobody has said a word.",
        # who somebody is, said in passing
        "Our eldest, who starts school in May, is afraid of dogs.": "The user's eldest starts school in May.",
        "Help me write to my flatmate Joop, who is a joiner.": "The user's flatmate Joop is a joiner.",
        "Amina, who shares a desk with me, is leaving.": "Amina shares a desk with the user.",
        "Hi, this is Bram. Can you sum up chapter two?": "The user's name is Bram.",
        "My aunt's called Merit, not Merrit.": "The user's aunt is called Merit.",
        "Hilde, 61, retired. How do I scan photos?": "The user's name is Hilde.",
        # typed in haste
        "no car so it has to be by train": "The user has no car.",
        "exam on friday and i know nothing": "The user has their exam on Friday, 6 February 2026.",
        "Somebody stole my bike last night.": "Somebody stole the user's bike on Tuesday, 3 February 2026.",
        "There's a pear tree in our garden.": "There's a pear tree in the user's garden.",
        "Everything in our kitchen is halal.": "Everything in the user's kitchen is halal.",
        "Rent can't go above 900 a month.": "Rent can't go above 900 a month.",
        "I live in Porto and drive a Fiat.": "The user drives a Fiat.",
        "I'm in my second year of law, and the reading is killing me.": "The user is in their second year of law.",
    }.items(),
)
def test_what_is_told_in_passing_is_read_by_its_grammar(message: str, statement: str) -> None:
    assert statement in told(message)


@pytest.mark.parametrize(
    "message",
    [
        "It's not that I hate opera, it's just long.",
        "Yes, I'm the Queen of Sheba and I sleep on gold.",
        "My laptop is at 7 percent, so be quick.",
        "I'm eighty percent coffee and my chair is my lawful husband.",
        "I can't sleep next to that noise.",
        "Chorus so far: my name is Hank, I drive a bus.",
        "Do a postcard from a pirate: my ship is old and I live on rum.",
        "Carry on from here: I'm Isolde and I carry coal for a living.",
        "I'm famished, it's late and there are two carrots.",
        "I've made up my mind: and that's that.",
        "I said earlier the exam was on Tuesday, but they've moved it.",
        "It's Mr, not Ms.",
        "It isn't my uncle who's allergic to bees, it's somebody else.",
        "I hate everybody today.",
        "I've a bit of a headache.",
    ],
)
def test_denials_jests_verses_and_what_passes_tell_nothing(message: str) -> None:
    assert told(message) == []


def test_a_place_is_nobodys_husband() -> None:
    assert told("We rent a mill near Ghent, my husband bakes.") == ["The user rents a mill near Ghent."]


@pytest.mark.parametrize(
    "message",
    [
        "My toaster has unionised and I'm out of bread.",
        "I was adopted by two geese, so I honk now.",
        "I was raised by lawnmowers.",
        "Next month we're moving into the fridge.",
        "She gave birth to a spreadsheet, and I gave birth to a 9 kg backlog.",
        "The crows have made me their king.",
        "I'd sooner wrestle a swan than call them.",
        "I have acute Monday.",
        "At this rate I'll marry my printer.",
        "I was king of this office for 900 years but nobody noticed.",
    ],
)
def test_things_that_act_and_lives_nobody_leads_are_jests(message: str) -> None:
    assert told(message) == []


@pytest.mark.parametrize(
    ("message", "statement"),
    {
        "I was raised by my grandparents in Leith.": "The user was raised by their grandparents in Leith.",
        "I was raised by immigrants.": "The user was raised by immigrants.",
        "I gave birth to a daughter in May.": "The user gave birth to a daughter in May 2025.",
        "I'm legally blind.": "The user is legally blind.",
    }.items(),
)
def test_what_only_sounds_like_such_a_jest_is_read(message: str, statement: str) -> None:
    assert statement in told(message)


@pytest.mark.parametrize(
    "message",
    [
        "I've got a puncture and it's dark.",
        "I've had two coffees already.",
        "I have 12 euros left until Friday.",
        "My stomach is rumbling.",
        "My soup is too salty.",
        "I'm at the station with an hour to kill.",
        "Left my scarf on the bus.",
        "Our neighbour is hoovering again.",
        "I've been on hold for half an hour.",
        "The upload is at 70% and crawling.",
        "I keep forgetting 9321 at the cash machine.",
    ],
)
def test_what_is_over_within_the_hour_is_left_alone(message: str) -> None:
    assert told(message) == []


def test_a_letter_to_the_assistant_is_read_and_one_to_somebody_else_is_not() -> None:
    assert told("Dear assistant,\nI live in Ghent.\nYours,\nTill")[0] == "The user lives in Ghent."
    assert told("Dear Tom,\nI live in Ghent.\nYours,\nTill") == []
