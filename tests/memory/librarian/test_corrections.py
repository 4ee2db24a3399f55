"""Corrections are found from the known facts, in ordinary sentences, and nowhere else."""

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.librarian.changes.corrections import Change, doubted_statement, find_corrections
from memory.librarian.changes.fact_words import states_attribute
from memory.librarian.engine import KnownFact
from memory.models.kinds import Kind
from memory.ports.source import Utterance
from memory.text.replaced_statement import moved_to_day_said, replaced_statement

EARLIER, NOW = datetime(2025, 3, 1, tzinfo=UTC), datetime(2025, 9, 1, tzinfo=UTC)


def known(
    number: int, statement: str, key: str = "", value: str = "", status: str = "active", kind: Kind = Kind.FACT
) -> KnownFact:
    return KnownFact(number, statement, kind, key, value, 0.9, status, statement, EARLIER, number)


FACTS = (
    known(1, "The user lives in Nantes.", "user/home", "Nantes"),
    known(2, "The user works at Acme.", "user/employer", "Acme"),
    known(3, "The user's dog is called Biscuit.", "user/dog/name", "Biscuit"),
    known(4, "The user loves coriander.", "user/taste:coriander", "likes"),
    known(5, "The user's sister is a doctor.", "user/sister/job", "doctor"),
    known(6, "The user plays the cello.", "", ""),
    known(7, "The user drives an old Saab.", "user/car", "Saab"),
    known(8, "The user's partner is called Ines.", "user/partner", "Ines"),
    known(9, "Tom lives in Porto.", "tom/home", "Porto"),
    known(11, "The user likes tea with milk."),
    known(14, "The user has two rabbits, Flip and Flop."),
    known(15, "The user's friend Kai dislikes cilantro.", "kai/taste:cilantro", "dislikes"),
    known(16, "The user smokes at parties."),
    known(17, "The user is lactose intolerant.", "user/condition:lactose_intolerance", "yes"),
    known(18, "The user's exam is on Tuesday, 2 September 2025."),
    known(19, "The user is vegan.", "user/diet", "vegan"),
    known(21, "The user wants to sell a boat in Kent."),
    known(22, "The user will run the Porto marathon in June."),
    known(10, "The user lived in Galway.", "user/home", "Galway", "superseded"),
    known(20, "The user studies nursing.", "user/studies", "nursing", "superseded"),
)


def read(text: str) -> list[tuple[int, Change, str]]:
    found = find_corrections(Utterance(1, 1, "user", text, NOW), FACTS)
    return [(correction.fact.fact_id, correction.change, correction.value) for correction in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't live in Nantes any more.", (1, Change.END, "")),
        ("We no longer live in Nantes, btw", (1, Change.END, "")),
        ("It's Limerick I live in, not Nantes", (1, Change.REPLACE, "Limerick")),
        ("I live in Lyon, not in Nantes", (1, Change.REPLACE, "Lyon")),
        ("not Nantes but Rennes", (1, Change.REPLACE, "Rennes")),
        ("We're back in Galway!", (10, Change.REVIVE, "")),
        ("feels lekker to be living in Galway again, the sun!!", (10, Change.REVIVE, "")),
        ("I'm going to study nursing after all.", (20, Change.REVIVE, "")),
        ("I've gone back to my first choice: I'll study nursing after all", (20, Change.REVIVE, "")),
        ("I do not run the marathon, only the 10K in Alicante.", (22, Change.END, "")),
        ("I left Acme in March.", (2, Change.END, "")),
        ("No, my dog is called Bisto, not Biscuit", (3, Change.REPLACE, "Bisto")),
        ("sorry, Bisto rather than Biscuit", (3, Change.REPLACE, "Bisto")),
        ("I can't stand coriander any more", (4, Change.END, "")),
        ("I gave up playing the cello", (6, Change.END, "")),
        ("I've gone right off coriander lately", (4, Change.END, "")),
        ("so tired of the tea you suggest", (11, Change.END, "")),
        ("Swapped the Saab for a Honda last weekend!", (7, Change.REPLACE, "Honda")),
        ("finally sold that rusty old Saab", (7, Change.END, "")),
        ("Tom doesn't live in Porto now", (9, Change.END, "")),
        ("I left Acme in May and start at Initech on Monday", (2, Change.REPLACE, "Initech")),
        ("Sold the Saab yesterday and picked up a Honda Jazz", (7, Change.REPLACE, "Honda Jazz")),
        ("Can't believe it: I hate coriander now", (4, Change.REPLACE, "dislikes")),
        ("I got laid off from Acme this morning", (2, Change.END, "")),
        ("we're not selling a boat any more", (21, Change.END, "")),
        ("Kai is history", (15, Change.END, "")),
        ("I quit smoking in June", (16, Change.END, "")),
        ("sorry I meant gluten, not lactose", (17, Change.REPLACE, "gluten")),
        ("I've left Acme :) winter coat tips?", (2, Change.END, "")),
        ("Do you know, I've gone off coriander.", (4, Change.END, "")),
        ("I've left Acme, what do I put on my CV?", (2, Change.END, "")),
        ("no not tuesday, wednesday", (18, Change.REPLACE, "wednesday")),
    ],
)
def test_a_sentence_corrects_the_fact_it_is_about(text: str, expected: tuple[int, Change, str]) -> None:
    assert read(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Don't I live in Nantes any more?",
        "I don't live far from Nantes.",
        "If I left Acme, could I keep the laptop?",
        "I left my keys at Acme.",
        "I'm not going to study nursing after all.",
        "I don't run on Tuesdays, the gym is closed.",
        "My boss said: “I no longer live in Nantes.”",
        "Is Biscuit a good name? I am not sure.",
        "I can't find Biscuit's vaccination card.",
        "The weather in Nantes is not great.",
        "I sold two paintings.",
        "My boss moved to Lyon.",
        "We went to see Tom, and my aunt moved to Faro.",
        "My brother Tim works at Shell.",
        "I moved to the next chapter.",
        "She doesn't live in Nantes.",
        "We are not going to Nantes this weekend.",
        "My neighbor broke up with his wife.",
        "No longer than 200 words please.",
        "I don't have time for my sister's wedding list today.",
        "not my sister, this is another Anna",
    ],
)
def test_other_sentences_correct_nothing(text: str) -> None:
    assert read(text) == []


def test_a_date_in_the_sentence_is_when_it_ended() -> None:
    (found,) = find_corrections(Utterance(1, 1, "user", "I left Acme in March 2024.", NOW), FACTS)
    assert found.when == datetime(2024, 4, 1, tzinfo=UTC)


def test_what_is_denied_of_one_who_is_named_is_not_of_the_others() -> None:
    parrots = (
        known(1, "The user's parrot is called Kiki."),
        known(2, "The user's parrot is called Lolo."),
        known(3, "The user has two parrots, Kiki and Lolo."),
        known(4, "The user's friend Tom has a parrot."),
    )
    found = find_corrections(Utterance(1, 1, "user", "Oh wait, Lolo is a canary, not a parrot.", NOW), parrots)
    assert [(one.fact.fact_id, one.change) for one in found] == [(3, Change.ASK), (2, Change.REPLACE)]


@pytest.mark.parametrize(
    ("said", "statement", "old"),
    [
        ("Make that 11. I was counting the empty boxes along.", "The user keeps 14 hives.", "14"),
        ("No, 9:20. Reading it off the card now.", "Physio is on Thursday, 3 December 2026 at 8:40.", "8:40"),
        ("*grade 3", "The user lives at number 2.", ""),
        ("16 I mean", "The user was 15 years old in April 2026.", "15"),
        ("wait, I meant 16!", "The user was 15 years old in April 2026.", "15"),
        ("No, 9 eggs is too much", "The user keeps 14 hives.", ""),
        ("make that 11", "The user lives in Leeds.", ""),
    ],
)
def test_a_number_that_opens_a_message_mends_the_one_just_said(said: str, statement: str, old: str) -> None:
    before = replace(known(1, statement), said_at=NOW - timedelta(minutes=2), message_id=1)
    found = find_corrections(Utterance(2, 2, "user", said, NOW), [before])
    assert [one.old for one in found] == [old] * bool(old)
    goats = replace(known(2, "The user has 3 goats."), said_at=NOW - timedelta(minutes=2), message_id=1)
    assert not old or ":" in old or find_corrections(Utterance(2, 2, "user", said, NOW), [before, goats]) == []


def test_who_is_named_may_have_more_names_around_them() -> None:
    sister = known(1, "The user's sister Mary lives in Lisbon and works at Acme.")
    (found,) = find_corrections(Utterance(1, 1, "user", "Mary lives in Porto, not in Lisbon.", NOW), [sister])
    assert (found.change, found.value) == (Change.REPLACE, "Porto")
    lesson = known(2, "The user's Spanish lesson is on Thursday, 12 November 2026.")
    (moved,) = find_corrections(Utterance(1, 1, "user", "my Spanish lesson is on Friday, not Thursday", NOW), [lesson])
    assert (moved.change, moved.value) == (Change.REPLACE, "Friday")


def test_an_older_message_corrects_nothing_said_later() -> None:
    assert find_corrections(Utterance(1, 1, "user", "I left Acme.", datetime(2024, 1, 1, tzinfo=UTC)), FACTS) == []


@pytest.mark.parametrize(
    ("text", "number", "statement"),
    [
        ("the viola, not the cello. sorry", 6, "The user plays the viola."),
        ("no, not the cello, the harp", 6, "The user plays the harp."),
        ("It's Ada Bell now, not Stone", 12, "The user's name is Ada Bell."),
        ("*Biscuitt, two t's", 3, "The user's dog is called Biscuitt."),
        ("I meant Nante, typo", 1, "The user lives in Nante."),
        ("not friday, thursday", 13, "The user's flight is on Thursday, 26 November 2026."),
    ],
)
def test_what_a_sentence_contrasts_or_spells_anew_is_replaced(text: str, number: int, statement: str) -> None:
    facts = (
        *FACTS,
        known(12, "The user's name is Ada Stone.", "user/name", "Ada Stone"),
        known(13, "The user's flight is on Friday, 27 November 2026."),
    )
    (found,) = find_corrections(Utterance(1, 1, "user", text, NOW), facts)
    assert found.change == Change.REPLACE
    fact, old = found.fact, found.old or found.fact.value
    assert (fact.fact_id, replaced_statement(fact.statement, old, found.value)) == (number, statement)


def replaced(fact: KnownFact, value: str) -> str:
    return replaced_statement(fact.statement, fact.value, value)


def test_a_statement_moves_to_the_day_that_the_words_of_a_change_name() -> None:
    lunch, today = "The user is meeting Beatriz for dinner on Friday, 5 September 2025.", NOW.date()
    moved = "The user is meeting Beatriz for dinner on Saturday, 6 September 2025."
    assert moved_to_day_said(lunch, "so we're having dinner on Saturday instead", today) == moved
    assert moved_to_day_said(lunch, "so we're having dinner instead, I decided yesterday", today) == lunch


def test_a_habit_moves_to_another_day_of_the_week() -> None:
    assert replaced_statement("Choir practice is on Tuesdays.", "Tuesday", "Wednesday") == (
        "Choir practice is on Wednesdays."
    )


def test_a_trip_is_known_by_where_it_goes() -> None:
    trip = known(1, "The user is going to Crete in June 2027.")
    said = Utterance(1, 1, "user", "The trip to Crete is moved to September.", NOW)
    assert [(one.old, one.value) for one in find_corrections(said, [trip])] == [("June 2027", "September")]


def test_a_day_takes_the_place_of_the_end_of_a_month() -> None:
    chapter = "The user's supervisor wants chapter two by the end of February."
    assert replaced_statement(chapter, "February", "15 March") == "The user's supervisor wants chapter two by 15 March."
    assert replaced_statement(chapter, "February", "March").endswith("by the end of March.")


def test_a_replaced_statement_keeps_the_words_around_the_value() -> None:
    assert replaced(FACTS[0], "Limerick") == "The user lives in Limerick."
    assert replaced(FACTS[6], "Honda") == "The user drives an old Honda."
    assert replaced(known(1, "The user is a nurse.", "user/job", "nurse"), "actor") == "The user is an actor."
    assert replaced(FACTS[5], "viola") == ""
    drinks, boats = known(1, "The user prefers tea over coffee."), known(1, "The user owns a canoe and a kayak.")
    assert replaced_statement(drinks.statement, "tea", "coffee") == "The user prefers coffee over tea."
    assert replaced_statement(boats.statement, "a canoe", "a kayak") == "The user owns a kayak."
    exam = "The user has an exam on Monday, 18 January 2027."
    for old in ("18 January", "18 January 2027", "Monday, 18 January 2027"):  # whose weekday goes with it
        assert replaced_statement(exam, old, "2 February") == "The user has an exam on Tuesday, 2 February 2027."
    assert (
        replaced_statement(exam, "18 January", "30 December") == "The user has an exam on Wednesday, 30 December 2026."
    )
    paths = "The user moved from C:\\g<1> to D:\\new."
    assert replaced_statement(paths, "C:\\g<1>", "D:\\new") == "The user moved from D:\\new to C:\\g<1>."


def test_a_day_without_its_month_mends_one_that_has_a_weekday() -> None:
    before = replace(known(1, "The user mentions optician, Friday the 13th, after lunch."), said_at=NOW, message_id=1)
    (found,) = find_corrections(Utterance(2, 2, "user", "No, the 20th. Same time.", NOW), [before])
    assert (found.old, found.value) == ("13th", "20th")


def test_a_number_with_its_word_mends_that_one() -> None:
    said = ("The user teaches grade 2 in Lund.", "The user needs a game of 10 minutes.")
    facts = [replace(known(n, one), said_at=NOW, message_id=1) for n, one in enumerate(said, 1)]
    found = find_corrections(Utterance(2, 2, "user", "*grade 3. thanks", NOW), facts)
    assert [(one.fact.fact_id, one.old, one.value) for one in found] == [(1, "2", "3")]


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    read(text)


def test_hostile_repeats_take_little_time() -> None:
    for piece in ("not Nantes but ", "back in Galway ", "sold the ", "a ", "Nantes, ", "any more "):
        started = time.thread_time()
        read(piece * (20_000 // len(piece)))
        assert time.thread_time() - started < 1


def test_a_message_read_again_does_not_end_what_was_learned_from_it() -> None:
    fact = replace(known(20, "The user is a postman.", "user/job", "postman"), message_id=20)
    said = Utterance(20, 1, "user", "I've left Acme, I'm not a postman any more.", NOW)
    assert find_corrections(said, [fact]) == []
    assert [found.fact.fact_id for found in find_corrections(said, [FACTS[1]])] == [2]


@pytest.mark.parametrize(
    ("statement", "is_home"),
    [
        ("The user finally has a small studio in Lund.", True),
        ("The user now has a room near Lund.", True),
        ("The user has a sister in Lund.", False),
    ],
)
def test_a_home_is_given_in_other_words(statement: str, is_home: bool) -> None:
    assert states_attribute(statement, "user/home") is is_home


@pytest.mark.parametrize(
    ("statement", "is_of_partner"),
    [
        ("The user's girlfriend Tess likes plants.", True),
        ("The user's wife Ines works nights.", True),
        ("The user's sister Tess likes plants.", False),
        ("The user likes plants.", False),
    ],
)
def test_what_was_said_of_a_partner_belongs_to_that_partner(statement: str, is_of_partner: bool) -> None:
    assert states_attribute(statement, "user/partner") is is_of_partner


# Dates that are mended ---------------------------------------------------------------------------------------------


DATED = (
    known(31, "The user's brother turns 19 on Monday, 8 June 2026."),
    known(32, "The user's brother's birthday is 8 June.", "user/brother/birthday", "8 June", status="proposed"),
    known(33, "The user likes tea with milk."),
    known(34, "The user has a rehearsal on Tuesday."),
)


def mended(text: str, later: timedelta = timedelta(minutes=2)) -> list[tuple[int, str]]:
    facts = [replace(fact, said_at=NOW - later, message_id=7) for fact in DATED]
    earlier = [replace(known(30, "The user's flight is on 3 March."), said_at=NOW - later, message_id=6)]
    found = find_corrections(Utterance(9, 3, "user", text, NOW), [*earlier, *facts])
    return [(one.fact.fact_id, one.value) for one in found if one.change is Change.REPLACE]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("hang on, just checked the invite. 9 june. phew", [(31, "Tuesday, 9 June 2026"), (32, "9 June")]),
        ("oops no, 9th of june. i always mix that up", [(31, "Tuesday, 9 June 2026"), (32, "9 June")]),
        ("sorry i meant the 21st of may, not the 8th", [(31, "Thursday, 21 May 2026"), (32, "21 May")]),
        ("wait, it's on Friday", [(34, "Friday")]),
        ("the 21st of May, I mean", [(31, "Thursday, 21 May 2026"), (32, "21 May")]),
        ("ugh, it's the 21st, I was looking at the wrong week", [(31, "21st"), (32, "21st")]),
        ("sorry, can you do 3 may for the party too", []),
        ("we go to Rome on 3 May", []),
        ("sorry, 4 May is mum's birthday", []),
        ("Sorry, on Friday, is the shop open?", []),
    ],
)
def test_a_date_said_just_before_is_mended_without_naming_what_it_is_of(
    text: str, expected: list[tuple[int, str]]
) -> None:
    assert mended(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Adelaide, I mean. Wrong A, she'd kill me.", [(42, "Adelaide")]),
        ("ah autocorrect. Aucklund is the name", [(42, "Aucklund")]),
        ("oops, Deryl", [(43, "Deryl")]),
        ("no, Dairy.", [(43, "Dairy")]),
        ("sorry, Adelaide.", []),
        ("Adelaide is lovely in March", []),
        ("Oops, Basel I mean", []),
    ],
)
def test_a_name_said_just_before_is_mended_by_one_like_it(text: str, expected: list[tuple[int, str]]) -> None:
    sister = known(42, "The user's sister lives in Auckland.", "user/sister/home", "Auckland")
    facts = [replace(one, said_at=NOW - timedelta(minutes=2), message_id=7) for one in (sister, known(43, DERRY))]
    found = find_corrections(Utterance(9, 3, "user", text, NOW), facts)
    assert [(one.fact.fact_id, one.value) for one in found] == expected


DERRY = "The user lives in Derry."


def test_a_date_of_another_day_is_not_mended_without_naming_it() -> None:
    assert mended("oops no, 9th of june", timedelta(hours=2)) == []


def test_of_two_days_none_is_mended_without_saying_which() -> None:
    there, back = (known(n, f"The user flies on {day} March.") for n, day in ((41, 3), (42, 9)))
    facts = [replace(fact, said_at=NOW - timedelta(minutes=2), message_id=7) for fact in (there, back)]
    assert list(find_corrections(Utterance(9, 3, "user", "oops no, 10 March", NOW), facts)) == []


@pytest.mark.parametrize("text", ["They want 900 a month, this is a joke", "it's a joke how long the queue was"])
def test_what_is_called_a_joke_takes_nothing_back(text: str) -> None:
    llama = replace(known(51, "The user keeps a pet llama."), said_at=NOW - timedelta(minutes=2), message_id=7)
    assert not find_corrections(Utterance(9, 3, "user", text, NOW), [llama])


def test_what_is_done_instead_ends_what_was_and_takes_no_nouns_place() -> None:
    fact = known(1, "The user does aikido every Tuesday.", "user/pastime:aikido", "yes")
    text = "Quit aikido last week. I swim three mornings a week instead now."
    assert {one.change for one in find_corrections(Utterance(9, 3, "user", text, NOW), [fact])} == {Change.END}


@pytest.mark.parametrize(
    "text", ["haha no, that was a joke. I've got a hamster.", "just kidding!", "ok I made that up", "haha April fool"]
)
def test_a_joke_takes_back_what_was_learned_from_the_message_just_before(text: str) -> None:
    llama = replace(known(51, "The user keeps a pet llama."), said_at=NOW - timedelta(minutes=2), message_id=7)
    earlier = replace(known(50, "The user lives in Porto."), said_at=NOW - timedelta(minutes=4), message_id=6)

    found = find_corrections(Utterance(9, 3, "user", text, NOW), [earlier, llama])

    assert [(one.fact.fact_id, one.change) for one in found] == [(51, Change.RETRACT)]
    assert not find_corrections(Utterance(9, 3, "user", text, NOW + timedelta(hours=2)), [earlier, llama])


OF_OTHERS = (
    known(1, "The user's grandmother Edith lives in Hull.", "edith/home", "Hull"),
    known(2, "The user's grandmother is called Edith.", "user/grandmother/name", "Edith"),
    known(3, "The user's dog Rex was six years old in March 2025.", "user/dog/age", "6"),
    known(4, "The user's dog Rex eats only tuna."),
    known(5, "The user's sister Ada lives in Faro.", "ada/home", "Faro"),
    known(6, "The user's sister Bea works at Acme.", "bea/employer", "Acme"),
    known(7, "The user's uncle Pavel moved to Brno."),
    known(8, "Pavel is allergic to bees.", "pavel/allergy:bees", "yes"),
    known(9, "The user's phone is a Pixel.", "user/phone", "Pixel"),
    known(10, "The user has an old cat, Pus.", "user/pet:cat", "yes"),
    known(11, "The user has a pet tortoise.", "user/pet:tortoise", "yes"),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My grandmother died on Sunday. I need words for the funeral", {1: Change.END}),
        ("Edith passed away last week, so sad", {1: Change.END}),
        ("our dog Rex died", {3: Change.END, 4: Change.END}),
        ("We had to put Rex to sleep on Tuesday", {3: Change.END, 4: Change.END}),
        ("Rex has sadly died", {3: Change.END, 4: Change.END}),
        ("so rex passed away in july", {3: Change.END, 4: Change.END}),
        ("Pavel passed away in March", {8: Change.END}),
        ("My sister died", {5: Change.ASK, 6: Change.ASK}),
        ("My sister Ada died", {5: Change.END}),
        ("My friend's grandmother died", {}),
        ("Pus died yesterday", {10: Change.END}),
        ("Our tortoise died", {11: Change.END}),
        ("We buried Rex under the pear tree", {3: Change.END, 4: Change.END}),
        ("I'm writing something for my grandmother's funeral.", {1: Change.END}),
        ("Rex buried the bone behind the shed", {}),
        ("My phone died", {}),
        ("Rex nearly died", {}),
        ("If Rex died I'd cry", {}),
        ("Did my grandmother say she died?", {}),
        ("My grandfather died before I was born", {}),
        ("Ada passed the exam", {}),
        ("Rex put the toy down", {}),
    ],
)
def test_what_was_so_of_someone_ends_with_their_death(text: str, expected: dict[int, Change]) -> None:
    found = find_corrections(Utterance(99, 1, "user", text, NOW), OF_OTHERS)
    assert {one.fact.fact_id: one.change for one in found} == expected


@pytest.mark.parametrize(
    ("diet", "text", "ends"),
    [
        ("vegetarian", "I eat meat again since the summer", True),
        ("vegetarian", "honestly I've started eating fish", True),
        ("pescatarian", "I'm back on chicken, doctor's orders", True),
        ("vegan", "I'm eating cheese these days", True),
        ("pescatarian", "I eat fish again", False),
        ("vegetarian", "my brother has started eating meat again", False),
        ("vegetarian", "I don't eat meat again today", False),
        ("vegetarian", "if I eat meat again I'll be sick", False),
        ("vegetarian", "Should I eat meat again?", False),
        ("halal", "I eat meat again", False),
    ],
)
def test_a_diet_ends_with_what_it_excludes(diet: str, text: str, ends: bool) -> None:
    fact = known(41, f"The user is {diet}.", "user/diet", diet)
    found = find_corrections(Utterance(99, 1, "user", text, NOW), [fact])
    assert [one.change for one in found] == [Change.END] * ends


@pytest.mark.parametrize(
    ("statement", "key", "value", "text"),
    [
        (
            "The user's husband Wim teaches maths.",
            "wim/job",
            "teaches maths",
            "Wim doesn't teach anymore, he's at a bank",
        ),
        ("The user works nights every second week.", "", "", "I'm not doing nights any more, I'm on the day team"),
    ],
)
def test_what_is_not_done_any_more_ends(statement: str, key: str, value: str, text: str) -> None:
    found = find_corrections(Utterance(99, 1, "user", text, NOW), [known(42, statement, key, value)])
    assert [(one.change, one.value) for one in found] == [(Change.END, "")]


def test_a_name_keeps_its_first_word_with_a_capital_letter() -> None:
    fact = known(43, "Lotte starts daycare at De Speelboom.")
    text = "Actually Lotte's daycare is called De Speelberg, not De Speelboom"
    (found,) = find_corrections(Utterance(99, 1, "user", text, NOW), [fact])
    assert (found.old, found.value) == ("De Speelboom", "De Speelberg")


def test_a_pet_that_was_put_to_sleep_by_name_is_had_no_more() -> None:
    facts = (
        known(49, "The user's dog Bess is a border collie, twelve now."),
        known(50, "The user has a pet border collie.", "user/pet:border_collie", "yes"),
        known(51, "The user has a cat.", "user/pet:cat", "yes"),
    )
    found = find_corrections(Utterance(99, 1, "user", "We had to have Bess put to sleep on Tuesday.", NOW), facts)
    assert [(one.fact.fact_id, one.change) for one in found] == [(49, Change.END), (50, Change.END)]


def test_a_name_said_just_before_is_spelled_otherwise() -> None:
    text = "Careful, it's spelled Kathryn, K-A-T-H-R-Y-N."
    fact = known(48, "The user's daughter Catherine is starting school.")
    just = replace(fact, said_at=NOW - timedelta(minutes=15))
    (found,) = find_corrections(Utterance(99, 1, "user", text, NOW), [just])
    assert (found.old, found.value) == ("Catherine", "Kathryn")
    assert not find_corrections(Utterance(99, 1, "user", text, NOW), [fact])


def test_a_plan_takes_the_place_of_another_with_the_same_words() -> None:
    trip = known(44, "The user is going to Sardinia in August 2025, two weeks near Olbia.")
    other = known(45, "The user is moving to Sardinia.")
    text = "scratch that, Sardinia is too expensive, we're going to Puglia instead"
    found = find_corrections(Utterance(99, 1, "user", text, NOW), [trip, other])
    assert [(one.fact.fact_id, one.old, one.value) for one in found] == [(44, "Sardinia", "Puglia")]


@pytest.mark.parametrize(
    "text",
    [
        "if we're going to Puglia instead, what about the ferry",
        "What would change? Suppose we're going to Puglia instead.",
        "so we're going to Puglia instead?",
    ],
)
def test_a_plan_that_is_only_supposed_replaces_none(text: str) -> None:
    trip = known(44, "The user is going to Sardinia in August 2025.")
    assert not find_corrections(Utterance(99, 1, "user", text, NOW), [trip])


def test_a_question_whether_a_fact_holds_is_changed_by_no_news() -> None:
    doubt = known(46, doubted_statement(known(47, "The user lives in Nantes.")), status="proposed")
    assert not find_corrections(Utterance(99, 1, "user", "I don't live in Nantes, but in Lyon", NOW), [doubt])


def test_a_death_on_a_weekday_was_on_the_last_one() -> None:
    (found,) = find_corrections(Utterance(99, 1, "user", "My grandmother died on Sunday", NOW), OF_OTHERS[:1])
    assert found.when == datetime(2025, 8, 31, tzinfo=UTC)


def test_a_return_to_what_still_holds_ends_what_waits_in_its_place() -> None:
    away = known(31, "The user lives in Madrid.", "user/home", "Madrid", "proposed")
    found = find_corrections(Utterance(99, 1, "user", "back in Nantes! missed the river", NOW), [*FACTS, away])
    assert [(one.fact.fact_id, one.change) for one in found] == [(31, Change.END)]
    assert find_corrections(Utterance(99, 1, "user", "back in Nantes!", NOW), FACTS) == []


def test_a_name_is_corrected_by_its_letters() -> None:
    fact = known(52, "The user lives in Lanberris.", "user/home", "Lanberris")
    text = "Sorry, Llanberis: double L at the front and one R."
    found = find_corrections(Utterance(99, 1, "user", text, NOW), [fact])
    assert [(one.old, one.value) for one in found] == [("Lanberris", "Llanberis")]
    assert not find_corrections(Utterance(99, 1, "user", "Llanberis: that is a nice place too", NOW), [fact])
    work = known(54, "The user works at the Halden brewery.", "user/employer", "the Halden brewery")
    found = find_corrections(Utterance(99, 1, "user", "sorry, autocorrect. It's the Holden brewery", NOW), [work])
    assert [(one.old, one.value) for one in found] == [("Halden", "Holden")]


def test_what_was_sold_ends_before_what_the_next_words_say() -> None:
    pixel = known(53, "The user switched to a Pixel over Christmas.", status="proposed")
    text = "I sold the Pixel and I've gone back to an iPhone."
    (found,) = find_corrections(Utterance(99, 1, "user", text, NOW), [pixel])
    assert (found.fact.fact_id, found.change) == (53, Change.END)


def test_what_opens_a_message_is_no_new_value() -> None:
    job = known(54, "The user's sister Nadia is a paramedic.", "nadia/job", "paramedic")
    text = "small update, Nadia isn't a paramedic any more."
    (found,) = find_corrections(Utterance(99, 1, "user", text, NOW), [job])
    assert (found.change, found.value) == (Change.END, "")


def test_what_only_explains_a_value_does_not_remain_without_it() -> None:
    gym = known(55, "The user goes to PureGym three times a week, mostly to stand near the rowing machine.")
    text = "I've cancelled my PureGym membership, I swim at the lido now instead."
    (found,) = find_corrections(Utterance(99, 1, "user", text, NOW), [gym])
    assert found.change == Change.END


def test_what_is_done_on_another_weekday_now_is_moved() -> None:
    facts = (
        known(56, "The user plays padel every Sunday with their coworkers.", "user/pastime:padel", "yes"),
        known(57, "The user plays chess every Sunday."),
        known(58, "The user has a padel match on Sunday, 7 September 2025."),
    )
    found = find_corrections(Utterance(99, 1, "user", "my group changed it, padel is on Thursdays now", NOW), facts)
    assert [(one.fact.fact_id, one.old, one.value) for one in found] == [(56, "Sunday", "Thursday")]
    assert not find_corrections(Utterance(99, 1, "user", "is padel on Thursdays now?", NOW), facts)


@pytest.mark.parametrize(
    ("statement", "text", "days"),
    [
        (
            "The user's pottery class is on tuesday and thursday.",
            "pottery is monday and friday now",
            "Monday and Friday",
        ),
        ("The user swims on Mondays.", "I swim on Tuesdays and Fridays now", "Tuesdays and Friday"),
        ("The user swims every Monday.", "I swim on Tuesdays and Fridays now", "Tuesday and Friday"),
        ("The user swims on Mondays and Fridays.", "these days I swim on Sundays", "Sunday"),
    ],
)
def test_several_weekdays_take_the_place_of_those_that_are_known(statement: str, text: str, days: str) -> None:
    (found,) = find_corrections(Utterance(99, 1, "user", text, NOW), [known(61, statement)])
    assert found.value == days


@pytest.mark.parametrize(
    ("statement", "text", "old", "new"),
    [
        (
            "The user takes ramipril in the morning and simvastatin in the evening.",
            "I take rosuvastatin now instead of simvastatin. The ramipril stays.",
            "simvastatin",
            "rosuvastatin",
        ),
        (
            "The user teaches chemistry at a secondary school in Leicester.",
            "Argh, sorry. Not chemistry, I teach physics. So something with forces please.",
            "chemistry",
            "physics",
        ),
    ],
)
def test_what_takes_a_place_with_the_same_verb_replaces_that_part(
    statement: str, text: str, old: str, new: str
) -> None:
    (found,) = find_corrections(Utterance(99, 1, "user", text, NOW), [known(59, statement)])
    assert (found.change, found.old, found.value) == (Change.REPLACE, old, new)
    first = known(69, f"{old.capitalize()} is what the user likes.")
    assert not [one for one in find_corrections(Utterance(99, 1, "user", text, NOW), [first]) if one.value == new]
    other = known(60, statement.replace("takes", "is allergic to").replace("teaches", "failed"))
    changed = find_corrections(Utterance(99, 1, "user", text, NOW), [other])
    assert not [one for one in changed if one.value == new]


def test_a_plan_that_is_denied_as_a_whole_ends() -> None:
    plan = known(65, "The user wants to drop out.", status="proposed")
    study = known(66, "The user wants to drop French.")
    (found,) = find_corrections(Utterance(99, 1, "user", "ok not dropping out, had a talk", NOW), [plan, study])
    assert (found.fact.fact_id, found.change) == (65, Change.END)


def test_what_someone_moves_is_on_another_day() -> None:
    operation = known(67, "The operation is on Monday, 22 September 2025.")
    said = Utterance(99, 1, "user", "They moved the operation to the 19th.", NOW)
    (found,) = find_corrections(said, [operation, known(68, "The exam is on Monday, 22 September 2025.")])
    assert (found.fact.fact_id, found.change) == (67, Change.REPLACE)
    moved = replaced_statement(operation.statement, found.old, found.value)
    assert moved == "The operation is on Friday, 19 September 2025."


def test_what_is_left_of_a_sentence_without_a_thing_is_no_thing() -> None:
    ride = known(61, "The user rides to work on their Yamaha and the chain squeaks.")
    text = "I sold the Yamaha in September, so now I go to work by bike."
    (found,) = find_corrections(Utterance(99, 1, "user", text, NOW), [ride])
    assert found.change == Change.END


def test_what_an_animal_will_not_do_ends_with_its_death() -> None:
    tablets = known(62, "The user's dog Rufus will not take his tablets.")
    name = known(63, "The user's dog is called Rufus.", "user/dog/name", "Rufus")
    cat = known(64, "The user's cat is called Pixel.", "user/cat/name", "Pixel")
    said = Utterance(99, 1, "user", "Rufus died on Sunday. He was fifteen.", NOW)
    found = find_corrections(said, [tablets, name, cat])
    assert [(one.fact.fact_id, one.change) for one in found] == [(62, Change.END), (63, Change.END)]


def test_what_is_on_a_list_changes_by_orders_alone() -> None:
    shopping = known(1, "On the user's shopping list are halloumi, limes and chickpeas.", "user/list:shopping",
                     "halloumi, limes, chickpeas")  # fmt: skip
    utterance = Utterance(1, 1, "user", "scrap the limes, neighbour gave me a bag. and add toothpaste", NOW)
    assert find_corrections(utterance, [shopping]) == []


def test_a_relative_who_leaves_keeps_name_and_health() -> None:
    facts = [
        known(1, "The user's mother-in-law is called Beatriz.", "user/mother_in_law/name", "Beatriz"),
        known(
            2, "The user's mother-in-law Beatriz is lactose intolerant.", "beatriz/condition:lactose_intolerance", "yes"
        ),
        known(3, "The user's mother-in-law Beatriz works at Acme.", "beatriz/employer", "Acme"),
    ]
    found = find_corrections(Utterance(1, 1, "user", "Beatriz left, phew.", NOW), facts)
    assert [one.fact.fact_id for one in found] == [3]
