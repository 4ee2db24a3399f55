"""A question about one attribute is led by the fact with that key, above the floor and above any passage."""

from datetime import UTC, datetime

import pytest

from accounts.languages import Language
from accounts.models import User
from memory.models import Fact
from memory.retrieval.recall import AlreadyInPrompt, retrieve
from tests.memory.retrieval.test_recall import NOW, OTHERS, remember, talk, texts

FACTS = {
    "user/home": ("The user's place is in Lyon.", "Lyon"),
    "user/job": ("The user is a potter.", "potter"),
    "user/employer": ("The user is with Acme.", "Acme"),
    "user/name": ("The user is Alice Moreau.", "Alice Moreau"),
    "user/sister/name": ("The user's sister is Mary.", "Mary"),
    "user/sister/home": ("The user's sister is in Lisbon.", "Lisbon"),
    "mary/job": ("Mary is a nurse.", "nurse"),
    "user/dog/name": ("The user's dog is Bisto.", "Bisto"),
    "user/favourite_colour": ("The user likes teal best.", "teal"),
    "project:atlas/deadline": ("Atlas is to be finished on 3 May.", "3 May"),
}


@pytest.fixture
def known(alice: User) -> None:
    for key, (statement, value) in FACTS.items():
        remember(alice, statement, key=key, value=value)
    remember(alice, *OTHERS)


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("Where do I live?", "user/home"),
        ("where am i based these days", "user/home"),
        ("Which city do I live in?", "user/home"),
        ("What do I do for a living?", "user/job"),
        ("Who do I work for?", "user/employer"),
        ("What's my name?", "user/name"),
        ("What's my sister's name?", "user/sister/name"),
        ("what is my sister called", "user/sister/name"),
        ("Where does my sister live?", "user/sister/home"),
        ("What does Mary do?", "mary/job"),
        ("What is my dog called?", "user/dog/name"),
        ("What is my favorite color?", "user/favourite_colour"),
        ("When is the deadline of Atlas?", "project:atlas/deadline"),
        ("What's my role at Acme?", "user/job"),
    ],
)
def test_the_fact_with_the_key_leads(alice: User, known: None, question: str, key: str) -> None:
    talk(alice, f"I wondered: {question} Nobody could say.", "Let me think about that.")

    assert texts(retrieve(alice, question, now=NOW))[0] == FACTS[key][0]


def test_a_dog_is_asked_for_whatever_its_breed(alice: User) -> None:
    remember(alice, "The user's greyhound is Bisto.", key="user/greyhound/name", value="Bisto")
    remember(alice, "The user's tabby is Flip.", key="user/tabby/name", value="Flip")

    leading = [item.text for item in retrieve(alice, "What's my dog's name?", now=NOW).kept if item.answers == "name"]

    assert leading == ["The user's greyhound is Bisto."]


def test_which_pet_there_is_is_answered_by_how_it_is_called(alice: User) -> None:
    remember(alice, "The user's cat is called Pixel.", key="user/cat/name", value="Pixel")
    remember(alice, "The user's boss is called Ivan.", key="user/boss/name", value="Ivan")

    leading = [item.text for item in retrieve(alice, "Which pet do I have now?", now=NOW).kept if item.answers]

    assert leading == ["The user's cat is called Pixel."]


def test_a_list_is_asked_for_by_its_name(alice: User) -> None:
    shopping, to_do = "On the user's shopping list is rice.", "On the user's to-do list is the bank."
    gifts, books = "On the user's winter gift list is a kite.", "On the user's to-read list is Emma."
    remember(alice, shopping, key="user/list:shopping", value="rice")
    remember(alice, to_do, key="user/list:to_do", value="the bank")
    remember(alice, books, key="user/list:to_read", value="Emma")
    remember(alice, gifts, key="user/list:winter_gift", value="a kite")
    films = "On the user's watch list is Heat."
    remember(alice, films, key="user/list:watch", value="Heat")

    asked = {
        "What's on the shopping list?": {shopping},
        "and my to-do list?": {to_do},
        "show me my watchlist": {films},
        "what's left on my gift list?": {gifts},
        "what's on my list?": {shopping, to_do, gifts, books, films},
        "Which books do I still want to read?": {books},
        "what do I still need to buy?": {shopping},
        "what do i need to get at the shop?": {shopping},
        "What else do I have to do?": {to_do},
        "Which gifts have I thought of?": {gifts},
        "What have I got down for winter?": {gifts},
        "what's left for winter?": {gifts},
        "What do I have to do to win at chess?": set(),
        "what do I need to buy a house?": set(),
    }
    for question, told in asked.items():
        kept = retrieve(alice, question, now=NOW).kept
        assert {item.text for item in kept if item.answers.startswith("list:")} == told


def test_what_only_changed_a_list_is_not_recalled_beside_it(alice: User) -> None:
    order, _, other = talk(alice, "take milk off the shopping list", "Done.", "No milk for Emil, he's allergic")
    remember(alice, "On the user's shopping list is rice.", key="user/list:shopping", value="rice", message_id=order)
    remember(alice, "Emil is allergic to milk.", message_id=other)

    found = retrieve(alice, "What's on the shopping list beside the milk?", now=NOW)

    assert {item.message_id for item in found.kept if item.source == "message"} <= {other}
    assert [cut.rule for cut in found.cut if cut.item.ref == f"message:{order}"] == ["on the list"]


IN_OTHER_LANGUAGES = {
    Language.GERMAN: {
        "Wo wohne ich?": ("user/home", "Der Nutzer hat eine Bleibe in Lyon."),
        "Was bin ich von Beruf?": ("user/job", "Der Nutzer ist Töpfer."),
        "Wo wohnt meine große Schwester?": ("user/sister/home", "Maries Bleibe ist in Lissabon."),
        "Wie heißt unser Hund?": ("user/dog/name", "Das Tier hört auf Bisto."),
    },
    Language.SPANISH: {
        "¿Dónde vivo?": ("user/home", "El usuario tiene su casa en Lyon."),
        "¿A qué me dedico?": ("user/job", "El usuario es alfarero."),
        "¿Y dónde vive mi hermana?": ("user/sister/home", "María tiene su casa en Lisboa."),
        "¿Cómo se llama mi perro?": ("user/dog/name", "El animal responde a Bisto."),
    },
    Language.FRENCH: {
        "Où est-ce que j'habite ?": ("user/home", "L'utilisateur a son logement à Lyon."),
        "C'est quoi, mon métier ?": ("user/job", "L'utilisateur est potier."),
        "Où habite ma grande sœur ?": ("user/sister/home", "Marie a son logement à Lisbonne."),
        "Comment s'appelle notre chien ?": ("user/dog/name", "L'animal répond au nom de Bisto."),
    },
}


OF_OTHERS = {
    Language.GERMAN: ("Wo wohnt meine Vermieterin?", "Wo wohnt meine Schwiegermutter?", "Wo steht mein Auto?"),
    Language.SPANISH: ("¿Dónde vive mi casera?", "¿Dónde vive mi suegra?", "¿Dónde está mi coche?"),
    Language.FRENCH: ("Où habite ma logeuse ?", "Où habite ma belle-mère ?", "Où est garée ma voiture ?"),
}


@pytest.mark.parametrize("language", IN_OTHER_LANGUAGES)
def test_the_fact_with_the_key_leads_in_other_languages(alice: User, language: Language) -> None:
    questions = IN_OTHER_LANGUAGES[language]
    User.objects.filter(pk=alice.pk).update(language=language, words_in=[language])
    alice.refresh_from_db()
    for key, statement in questions.values():
        remember(alice, statement, key=key, value=statement.split()[-1].strip("."))

    leading = {question: retrieve(alice, question, now=NOW).kept[0] for question in questions}

    assert {question: item.text for question, item in leading.items()} == {
        question: statement for question, (_, statement) in questions.items()
    }
    assert {item.answers for item in leading.values()} == {"home", "job", "name"}
    for other in OF_OTHERS[language]:
        assert not any(item.answers for item in retrieve(alice, other, now=NOW).kept), other


def test_whom_a_relation_names_is_the_subject_of_what_is_known_by_name(alice: User) -> None:
    remember(alice, "The user's boss Henrike is from Rostock.", key="henrike/origin", value="Rostock")
    remember(alice, *OTHERS)

    assert texts(retrieve(alice, "Where is my boss from?", now=NOW))[0] == "The user's boss Henrike is from Rostock."


@pytest.mark.parametrize(
    "question",
    [
        "What should I eat before moving house?",
        "What does a nurse do all day at work?",
        "Where does the name Bisto come from?",
        "Is it my turn to do the dishes?",
    ],
)
def test_a_question_for_no_attribute_is_led_by_none(alice: User, known: None, question: str) -> None:
    found = retrieve(alice, question, now=NOW)

    assert not any("keyed_answer" in item.parts for item in (*found.kept, *(cut.item for cut in found.cut)))


@pytest.mark.parametrize("question", ["Where does my brother live?", "How does my boss's name go?"])
def test_a_question_about_someone_else_isnt_led_by_the_users_own(alice: User, known: None, question: str) -> None:
    found = retrieve(alice, question, now=NOW)

    assert not any(item.answers for item in found.kept)


def test_all_allergies_lead_together_and_say_what_they_answer(alice: User) -> None:
    facts = {
        f"user/allergy:{what}": remember(alice, f"The user is allergic to {what}.", key=f"user/allergy:{what}")[0].ref
        for what in ("latex", "walnuts")
    }
    remember(alice, *OTHERS)

    found = retrieve(alice, "What must I stay away from because of my allergies?", now=NOW)

    leading = {item.ref: item.answers for item in found.kept if item.answers}
    assert leading == {ref: key.removeprefix("user/") for key, ref in facts.items()}


def test_a_diet_and_what_is_left_out_lead_together(alice: User) -> None:
    remember(alice, "The user is vegetarian.", key="user/diet", value="vegetarian")
    remember(alice, "The user is gluten-free.", key="user/diet:gluten", value="no")
    remember(alice, *OTHERS)

    first, second, *_ = retrieve(alice, "What is my diet?", now=NOW).kept

    assert {first.answers, second.answers} == {"diet", "diet:gluten"}


def test_the_answer_is_recalled_even_if_the_profile_states_it(alice: User, known: None) -> None:
    stated = AlreadyInPrompt(facts=frozenset(fact.ref for fact in Fact.objects.for_user(alice)))

    first = retrieve(alice, "Where do I live?", now=NOW, told=stated).kept[0]

    assert (first.text, first.answers) == (FACTS["user/home"][0], "home")


def test_a_waiting_message_that_contradicts_it_comes_after_and_says_so(alice: User) -> None:
    (home,) = remember(alice, "The user lives in Lyon.", key="user/home", value="Lyon")
    (said,) = talk(alice, "I live in Paris, and I like it here.")
    remember(
        alice, "The user lives in Paris.", key="user/home", value="Paris", status="proposed", message_id=said,
        quote="I live in Paris",
    )  # fmt: skip

    first, second = retrieve(alice, "Where do I live?", now=NOW).kept

    assert first.ref == home.ref
    assert (second.ref, second.qualifier) == (
        f"message:{said}",
        f"waiting (The user lives in Paris.), contradicts {home.ref}",
    )


def test_a_question_about_the_past_is_led_by_the_former_value(alice: User) -> None:
    (new,) = remember(alice, "The user lives in Lyon.", key="user/home", value="Lyon")
    (old,) = remember(
        alice, "The user lives in Nantes.", key="user/home", value="Nantes", status="superseded", superseded_by=new
    )

    first, second = retrieve(alice, "Where did I live before?", now=NOW).kept

    assert (first.ref, second.ref) == (old.ref, new.ref)


def test_bobs_key_leads_nothing_of_alices(alice: User, bob: User) -> None:
    remember(bob, "The user lives in Lyon.", key="user/home", value="Lyon")

    assert retrieve(alice, "Where do I live?", now=NOW).kept == ()
    assert Fact.objects.for_user(alice).count() == 0


def test_a_former_value_that_a_question_about_the_past_names_leads(alice: User) -> None:
    remember(alice, "The user lives in Porto.", key="user/home", value="Porto")
    (old,) = remember(alice, "The user used to live in Tbilisi from 2016 to 2021.", key="user/home", value="Tbilisi",
                      status="expired", valid_until=datetime(2021, 12, 31, tzinfo=UTC))  # fmt: skip

    first = retrieve(alice, "Until when did I live in Tbilisi?", now=NOW).kept[0]

    assert (first.ref, first.answers) == (old.ref, "home")


def test_a_message_whose_fact_waits_leads_where_nothing_is_known_and_says_what_waits(alice: User) -> None:
    (said,) = talk(alice, "*John, with an h")
    remember(alice, *OTHERS)
    remember(alice, "The user's friend is called John.", key="user/friend/name", value="John",
             status=Fact.Status.PROPOSED, message_id=said, quote="*John, with an h")  # fmt: skip

    first = retrieve(alice, "What is my best friend's name?", now=NOW).kept[0]

    assert (first.text, first.qualifier) == ("*John, with an h", "waiting (The user's friend is called John.)")


def test_of_two_that_wait_with_a_value_of_one_key_only_the_later_leads(alice: User) -> None:
    for name, month, days in (("Joris", "May", 200), ("Mattia", "October", 9)):
        words = f"a present for my boyfriend {name}, in {month}"
        (said,) = talk(alice, words, days_ago=days)
        remember(alice, f"The user's boyfriend is called {name}.", key="user/partner", value=name,
                 status=Fact.Status.PROPOSED, message_id=said, quote=words)  # fmt: skip
        newest = said

    found = {item.text: item.qualifier for item in retrieve(alice, "What's my boyfriend's name?", now=NOW).kept}

    assert found["a present for my boyfriend Mattia, in October"].startswith("waiting (")
    assert found["a present for my boyfriend Joris, in May"] == f"perhaps changed by message:{newest}"
    past = retrieve(alice, "Who was my boyfriend in May, before Mattia?", now=NOW).kept
    assert not any(item.qualifier.startswith("perhaps changed") for item in past)


def test_a_proposal_whose_quote_was_made_up_is_not_spelled_out(alice: User) -> None:
    (said,) = talk(alice, "My best friend has a name day on Friday")
    remember(alice, *OTHERS)
    remember(alice, "The user's friend is called Rex.", key="user/friend/name", value="Rex",
             status=Fact.Status.PROPOSED, message_id=said, quote="my friend Rex")  # fmt: skip

    found = retrieve(alice, "What is my best friend's name?", now=NOW).kept

    assert all("Rex" not in f"{item.text} {item.qualifier}" for item in found)


def test_an_older_message_without_the_value_is_qualified_beside_the_answer(alice: User) -> None:
    talk(alice, "As a 44-year-old beginner, is ballet a silly idea? I feel old.", days_ago=300)
    (said,) = talk(alice, "I'm 45 now and dance every week, how old must one be for pointe shoes.", days_ago=20)
    (age,) = remember(alice, "The user was 45 years old in May 2026.", key="user/age", value="45", message_id=said,
                      quote="I'm 45 now")  # fmt: skip

    found = retrieve(alice, "How old am I?", now=NOW).kept

    older = [item.qualifier for item in found if "44" in item.text]
    assert older == [f"before {age.ref} (The user was 45 years old in May 2026.)"]
    assert found[0].qualifier == "current"


def test_a_home_that_the_question_names_does_not_answer_which_part_of_it_is_meant(alice: User) -> None:
    remember(alice, "The user lives in Lisbon.", key="user/home", value="Lisbon")
    remember(alice, "The user lives on the fourth floor, in Alfama.")

    named = retrieve(alice, "What part of Lisbon do I live in?", now=NOW).kept
    asked = retrieve(alice, "Where do I live?", now=NOW).kept

    assert "home" not in {item.answers for item in named}
    assert asked[0].answers == "home"


def test_what_came_after_does_not_answer_what_was_before_it(alice: User) -> None:
    remember(alice, "The user drives a Dacia Sandero.", key="user/car", value="Dacia Sandero")

    before = retrieve(alice, "What car did I drive before the Dacia?", now=NOW).kept
    asked = retrieve(alice, "What car do I drive?", now=NOW).kept

    assert "car" not in {item.answers for item in before}
    assert asked[0].answers == "car"


def test_what_was_before_a_named_one_is_found_by_that(alice: User) -> None:
    new, old = remember(alice, "Lindiwe Maseko does the user's books.", "Farooq does the user's books.")
    Fact.objects.filter(pk=old.pk).update(status="superseded", superseded_by=new.pk, superseded_at=NOW)

    assert texts(retrieve(alice, "Who did my books before Lindiwe?", now=NOW, reads=True))[0] == old.statement
