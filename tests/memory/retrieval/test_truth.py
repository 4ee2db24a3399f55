"""What must not be recalled: untrue sentences, bare questions, greetings, commands, Recall's own echoes."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from accounts.models import User
from chat.models import Conversation
from memory.facts.links import link
from memory.models import Chunk, Episode, Fact, FactLink
from memory.retrieval.ranking import WEAK
from memory.retrieval.recall import RetrievalResult, retrieve
from memory.retrieval.truth import FactState
from memory.text.message_kinds import FROM_MEMORIES, UNFINISHED
from tests.memory.retrieval.test_recall import NOW, document, episode, remember, talk, texts

NANTES = "I live in Nantes."
LYON = "I moved to Lyon."


def learned(user: User, message: int, statement: str, quote: str, **fields: Any) -> Fact:
    (fact,) = remember(user, statement, message_id=message, quote=quote, **fields)
    return fact


def rules(found: RetrievalResult) -> dict[str, str]:
    return {cut.item.ref: str(cut.rule) for cut in found.cut}


@pytest.fixture
def moved(alice: User) -> tuple[int, int, Fact, Fact]:
    """Alice lived in Nantes, then moved to Lyon: two messages and two facts."""
    (before,) = talk(alice, NANTES, days_ago=300)
    (after,) = talk(alice, LYON, days_ago=20)
    home = {"key": "user/home"}
    new = learned(alice, after, "The user lives in Lyon.", LYON, value="Lyon", **home)
    old = learned(
        alice, before, "The user lives in Nantes.", NANTES, value="Nantes", status=Fact.Status.SUPERSEDED,
        superseded_by=new, superseded_at=NOW - timedelta(days=20), **home,
    )  # fmt: skip
    return before, after, old, new


# Facts that no longer hold ---------------------------------------------------------------------------------------


def test_the_sentence_of_a_rejected_fact_is_not_recalled(alice: User) -> None:
    (said,) = talk(alice, "My sister Mary lives in Lisbon.")
    learned(
        alice, said, "The user's sister Mary lives in Lisbon.", "My sister Mary lives in Lisbon.", status="rejected"
    )

    found = retrieve(alice, "Where does my sister Mary live?", now=NOW)

    assert found.kept == ()
    assert rules(found)[f"message:{said}"] == "rejected"


def test_the_rest_of_its_message_stays(alice: User) -> None:
    (said,) = talk(alice, "My sister Mary lives in Lisbon. Mary paints in oil. We met for lunch.")
    learned(
        alice, said, "The user's sister Mary lives in Lisbon.", "My sister Mary lives in Lisbon.", status="rejected"
    )

    (item,) = retrieve(alice, "What do you know about Mary?", now=NOW).kept

    assert item.text == "Mary paints in oil. We met for lunch."


def test_the_rest_is_recalled_for_a_question_of_which_it_has_no_word_only_if_it_answers_it(alice: User) -> None:
    wine = "I hate red wine with a passion."
    (said,) = talk(alice, f"Making a dinner at my place in Brno tomorrow. {wine}")
    learned(alice, said, "The user dislikes red wine.", wine, status="rejected", key="user/taste:red wine")

    asked, tasted = "Which town do I live in?", "What do I think of red wine?"

    assert texts(retrieve(alice, asked, now=NOW, reads=True)) == ["Making a dinner at my place in Brno tomorrow."]
    assert texts(retrieve(alice, tasted, now=NOW, reads=True)) == []
    assert texts(retrieve(alice, tasted, now=NOW, strong=WEAK)) == []


def test_a_rejected_sentence_said_again_elsewhere_is_not_recalled_either(alice: User) -> None:
    (said,) = talk(alice, "My sister Mary lives in Lisbon.")
    learned(
        alice, said, "The user's sister Mary lives in Lisbon.", "My sister Mary lives in Lisbon.", status="rejected"
    )
    talk(alice, "Tell me a joke", "Your sister Mary lives in Lisbon, I believe.")

    found = retrieve(alice, "Where does my sister Mary live?", now=NOW)

    assert found.kept == ()


def test_a_retracted_fact_takes_its_sentence_along(alice: User) -> None:
    (said,) = talk(alice, "I play the cello every evening.")
    learned(alice, said, "The user plays the cello.", "I play the cello every evening.", status="superseded")

    found = retrieve(alice, "Did I play the cello before?", now=NOW)

    assert found.kept == ()
    assert rules(found)[f"message:{said}"] == "retracted"


def test_after_a_move_the_old_home_is_not_recalled(alice: User, moved: tuple[int, int, Fact, Fact]) -> None:
    before, _, old, _ = moved

    found = retrieve(alice, "Where do I live?", now=NOW)

    assert not any("Nantes" in text for text in texts(found))
    assert "The user lives in Lyon." in texts(found)
    assert rules(found)[f"message:{before}"] == rules(found)[old.ref] == "superseded"


def test_what_a_sentence_says_beside_a_value_that_was_replaced_is_recalled_without_the_value(alice: User) -> None:
    mail = "Draft a mail to my supervisor Dr Halvorsen, the chapter on kelp in Norway is three weeks late."
    (said,) = talk(alice, mail, days_ago=50)
    key = "user/supervisor/name"
    new = learned(alice, said, "The user's supervisor is called Dr Okonjo.", "", value="Dr Okonjo", key=key)
    learned(alice, said, "The user's supervisor is called Dr Halvorsen.", mail, value="Dr Halvorsen", key=key,
            status=Fact.Status.SUPERSEDED, superseded_by=new, superseded_at=NOW)  # fmt: skip

    kept = retrieve(alice, "What is my chapter about?", now=NOW, reads=True).kept
    asked = retrieve(alice, "Who is my supervisor?", now=NOW, reads=True).kept

    assert mail.replace("Dr Halvorsen", "[changed]") in [item.text for item in kept]
    assert not [item for item in (*kept, *asked) if "Halvorsen" in item.text]
    assert asked[0].text == "The user's supervisor is called Dr Okonjo."


@pytest.mark.parametrize(
    "question", ["Where did I live before?", "Where did I use to live?", "Where did I live in 2025?"]
)
def test_a_question_about_the_past_recalls_it_with_a_qualifier(
    alice: User, moved: tuple[int, int, Fact, Fact], question: str
) -> None:
    before, _, old, new = moved

    kept = {item.ref: item.qualifier for item in retrieve(alice, question, now=NOW).kept}

    assert kept[old.ref] == kept[f"message:{before}"] == f"superseded by {new.ref} (The user lives in Lyon.)"
    assert kept[new.ref] == "current"


def test_the_old_home_in_recalls_own_words_is_not_recalled(alice: User, moved: tuple[int, int, Fact, Fact]) -> None:
    talk(alice, "Where is the castle?", "Nantes has one, and you live in Nantes. It is on the Loire.", days_ago=200)

    found = retrieve(alice, "Where do I live?", now=NOW)

    assert not any("live in Nantes" in text for text in texts(found))


def test_a_sentence_that_corrects_a_fact_is_recalled(alice: User, moved: tuple[int, int, Fact, Fact]) -> None:
    talk(alice, "I live in Lyon now, not in Nantes.")

    assert "I live in Lyon now, not in Nantes." in texts(retrieve(alice, "Where do I live?", now=NOW))


def test_of_a_sentence_with_a_fact_that_holds_only_the_rejected_clause_goes(alice: User) -> None:
    said = "I live in Nantes and work for Acme."
    (message,) = talk(alice, said)
    learned(alice, message, "The user lives in Nantes.", said, status="rejected", value="Nantes", key="user/home")
    learned(alice, message, "The user works for Acme.", said, value="Acme", key="user/employer")

    told = texts(retrieve(alice, "Who do I work for?", now=NOW))
    assert "work for Acme." in told
    assert not any("Nantes" in text for text in told)


def test_a_fact_edited_to_another_value_takes_the_old_sentence_along(alice: User) -> None:
    (message,) = talk(alice, NANTES)
    edited = learned(alice, message, "The user lives in Angers.", NANTES, value="Angers", key="user/home")
    learned(
        alice, message, "The user lives in Nantes.", NANTES, value="Nantes", key="user/home", status="superseded",
        superseded_by=edited,
    )  # fmt: skip

    assert texts(retrieve(alice, "Where do I live?", now=NOW)) == ["The user lives in Angers."]


def test_an_expired_fact_is_recalled_for_its_time_only(alice: User) -> None:
    until = NOW - timedelta(days=400)
    (fact,) = remember(alice, "The user works for Acme.", valid_until=until, status="expired")

    assert retrieve(alice, "Who do I work for?", now=NOW).kept == ()
    (item,) = retrieve(alice, "Who did I work for in 2025?", now=NOW).kept
    assert (item.ref, item.qualifier) == (fact.ref, f"until {until:%Y-%m-%d}")


def test_a_document_of_the_users_own_says_that_it_is_out_of_date(
    alice: User, moved: tuple[int, int, Fact, Fact]
) -> None:
    document(alice, "/reference/address", NANTES)

    kept = retrieve(alice, "Where do I live?", now=NOW).kept
    assert [item.qualifier.partition(" by ")[0] for item in kept if item.text == NANTES] == ["superseded"]


def test_what_a_sentence_says_of_someone_else_is_not_the_users_past(
    alice: User, moved: tuple[int, int, Fact, Fact]
) -> None:
    told = "Max lives in Nantes with his dog."
    document(alice, "/people/max", told)

    (item,) = (item for item in retrieve(alice, "Who lives in Nantes?", now=NOW).kept if item.text == told)
    assert item.qualifier == "current"


def test_an_episode_that_rests_on_rejected_facts_is_not_recalled(alice: User) -> None:
    (wrong,) = remember(alice, "The user adopted a parrot.", status="rejected")
    (right,) = remember(alice, "The user adopted a cat.")
    untrue = episode(alice, "A parrot", "The user adopted a parrot called Polly.")
    mixed = episode(alice, "Pets", "The user went to the shelter and adopted a cat.")
    untrue.facts.add(wrong)
    mixed.facts.add(wrong, right)

    found = retrieve(alice, "Which animal did I adopt?", now=NOW)

    assert rules(found)[untrue.ref] == "rejected"
    assert mixed.ref in {item.ref for item in found.kept}


def test_accepting_a_rejected_fact_again_brings_its_sentence_back(alice: User) -> None:
    (said,) = talk(alice, "I keep bees in Kent.")
    fact = learned(alice, said, "The user keeps bees in Kent.", "I keep bees in Kent.", status="rejected")
    assert retrieve(alice, "Where do I keep bees?", now=NOW).kept == ()

    Fact.objects.filter(pk=fact.pk).update(status="active")

    assert "I keep bees in Kent." in texts(retrieve(alice, "Where do I keep bees?", now=NOW))


def test_bobs_rejected_fact_takes_nothing_from_alice(alice: User, bob: User) -> None:
    remember(bob, "The user keeps bees in Kent.", status="rejected")
    talk(alice, "I keep bees in Kent.")

    assert texts(retrieve(alice, "Where do I keep bees?", now=NOW)) == ["I keep bees in Kent."]


# Messages that are no memory -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "rule"),
    [
        ("Where do I keep my bees?", "only asks"),
        ("do you remember where my bees are", "only asks"),
        ("Translate bees to French", "a command"),
        ("Hi, how are you today?", "small talk"),
    ],
)
def test_a_message_that_states_nothing_is_not_recalled(alice: User, said: str, rule: str) -> None:
    (message,) = talk(alice, said)

    found = retrieve(alice, "What do you know about my bees today? Thanks!", now=NOW)

    assert found.kept == ()
    assert rules(found)[f"message:{message}"] == rule


@pytest.mark.parametrize(
    "said",
    ["I keep my bees in Kent, right?", "Can you find a vet in Kent, where my bees live?", "Remember that I keep bees."],
)
def test_a_question_or_order_that_tells_something_is_recalled(alice: User, said: str) -> None:
    talk(alice, said)

    assert texts(retrieve(alice, "Do I keep bees?", now=NOW)) == [said]


def test_an_answer_that_does_not_know_is_not_recalled(alice: User) -> None:
    _, answer = talk(alice, "Where do I keep my bees?", "I don't know where you keep your bees.")

    found = retrieve(alice, "Where do I keep my bees?", now=NOW)

    assert found.kept == ()
    assert rules(found)[f"message:{answer}"] == "did not know"


@pytest.mark.parametrize("rule", [UNFINISHED, FROM_MEMORIES])
def test_an_answer_marked_by_its_turn_is_not_recalled(alice: User, rule: str) -> None:
    _, answer = talk(alice, "I keep bees in Kent.", "Bees in Kent like the apple trees.")
    Chunk.objects.filter(message_id=answer).update(omit=rule)

    found = retrieve(alice, "Which trees do bees in Kent like?", now=NOW)

    assert f"message:{answer}" not in {item.ref for item in found.kept}
    assert rules(found)[f"message:{answer}"] == rule


def test_what_the_assistant_contributed_itself_is_recalled(alice: User) -> None:
    recipe = "Mix 200 g of honey with the flour, and bake the cake for 40 minutes."
    talk(alice, "I need a honey cake", recipe)

    assert recipe in texts(retrieve(alice, "How long does the honey cake bake?", now=NOW))


# Qualifiers ------------------------------------------------------------------------------------------------------


def test_a_fact_with_an_end_says_until_when(alice: User) -> None:
    remember(alice, "The user rents a flat in Kent.", valid_until=NOW + timedelta(days=30))

    (item,) = retrieve(alice, "Where do I rent a flat?", now=NOW).kept

    assert item.qualifier == f"until {NOW + timedelta(days=30):%Y-%m-%d}"


def test_a_message_whose_facts_wait_says_so(alice: User) -> None:
    (said,) = talk(alice, "I keep bees in Kent.")
    learned(alice, said, "The user keeps bees in Kent.", "I keep bees in Kent.", status="proposed")

    (item,) = retrieve(alice, "Where do I keep bees?", now=NOW).kept

    assert (item.source, item.qualifier) == ("message", "waiting (The user keeps bees in Kent.)")


def test_what_waits_finds_the_message_that_says_it_in_other_words(alice: User) -> None:
    talk(alice, "Buckwheat works, I have that.", *["The kettle wants descaling."] * 3)
    (said,) = talk(alice, "Pancakes without wheat, please, I'm coeliac.")
    learned(alice, said, "The user has a medical condition: coeliac disease.", "I'm coeliac", status="proposed")

    item, *_ = retrieve(alice, "What medical condition do I have?", now=NOW).kept

    assert (item.ref, item.qualifier) == (
        f"message:{said}",
        "waiting (The user has a medical condition: coeliac disease.)",
    )


def test_what_the_demo_says_without_an_answer_is_no_memory(alice: User) -> None:
    talk(alice, "I keep bees in Kent.", "I've read that. Ask me about it later.")
    assert texts(retrieve(alice, "Where do I keep bees?", now=NOW)) == ["I keep bees in Kent."]


def test_what_waits_finds_nothing_in_a_deleted_conversation(alice: User) -> None:
    (said,) = talk(alice, "Pancakes without wheat, please, I'm coeliac.")
    learned(alice, said, "The user has a medical condition: coeliac disease.", "I'm coeliac", status="proposed")
    Conversation.objects.for_user(alice).update(deleted_at=NOW)

    assert retrieve(alice, "What medical condition do I have?", now=NOW).kept == ()


def test_a_message_that_says_several_things_spells_out_all_that_wait(alice: User) -> None:
    (said,) = talk(alice, "Allergies: penicillin and latex.")
    for thing in ("penicillin", "latex"):
        learned(alice, said, f"The user is allergic to {thing}.", "Allergies: penicillin and latex.", value=thing,
                key=f"user/allergy:{thing}", status="proposed")  # fmt: skip

    (item,) = retrieve(alice, "What am I allergic to?", now=NOW).kept

    assert item.qualifier == "waiting (The user is allergic to penicillin. The user is allergic to latex.)"


def test_of_a_sentence_only_the_clause_that_is_out_of_date_goes(alice: User) -> None:
    text = "My PhD is on lichen. My supervisor is Ada Adeyemi and she wants chapter two by February."
    (said,) = talk(alice, text, days_ago=10)
    learned(alice, said, "The user's PhD is on lichen.", "My PhD is on lichen", status="proposed")
    learned(alice, said, "The user's supervisor is called Ada Adeyemi.", "My supervisor is Ada Adeyemi",
            status="proposed")  # fmt: skip
    (newer,) = remember(alice, "The user's supervisor wants chapter two by 15 March.")
    learned(alice, said, "The user's supervisor wants chapter two by February.", "she wants chapter two by February",
            status="superseded", superseded_by=newer)  # fmt: skip

    kept = {item.ref: item for item in retrieve(alice, "What is my PhD about?", now=NOW).kept}

    message = kept[f"message:{said}"]
    assert message.qualifier == "waiting (The user's PhD is on lichen.)"
    assert "Adeyemi" in message.text
    assert "February" not in message.text


def test_a_list_keeps_its_short_parts_where_one_is_out_of_date(alice: User) -> None:
    text = "Make me a strength plan. I'm 43, desk job, Tallinn, one kettlebell of 16 kg."
    (said,) = talk(alice, text, days_ago=10)
    (newer,) = remember(alice, "The user is 45.", key="user/age")
    quote = "I'm 43, desk job, Tallinn, one kettlebell of 16 kg"
    learned(alice, said, "The user is 43.", quote, key="user/age", status="superseded", superseded_by=newer)
    learned(alice, said, "The user lives in Tallinn.", quote, key="user/home", status="active")

    kept = {item.ref: item for item in retrieve(alice, "How heavy is my kettlebell?", now=NOW).kept}

    assert "desk job, Tallinn, one kettlebell of 16 kg" in kept[f"message:{said}"].text
    assert "43" not in kept[f"message:{said}"].text


def test_of_a_sentence_only_the_clause_of_a_replaced_statement_without_a_key_goes(alice: User) -> None:
    text = "Audit is on 2 December, both exams are at the Eastgate hall, and I work full time on top."
    (said,) = talk(alice, text, days_ago=10)
    (newer,) = remember(alice, "The user works half days.")
    learned(alice, said, "The user works full time on top.", text, status="superseded", superseded_by=newer)

    told = " ".join(item.text for item in retrieve(alice, "Where are my exams?", now=NOW).kept)

    assert "Eastgate" in told
    assert "full time" not in told


def test_a_quoted_sentence_keeps_its_marks_where_a_clause_of_it_goes(alice: User) -> None:
    text = "“I live in Lisbon, I work as a marine biologist.” “My sister has a bakery.”"
    Episode.objects.create(user=alice, title="First talk", summary=text, significance=0.6, happened_at=NOW)
    (newer,) = remember(alice, "The user lives in Porto.", key="user/home", value="Porto")
    remember(alice, "The user lives in Lisbon.", key="user/home", value="Lisbon", status="superseded",
             superseded_by=newer)  # fmt: skip
    remember(alice, "The user works as a marine biologist.", key="user/job", value="marine biologist")

    kept = retrieve(alice, "What work do I do as a biologist, and does my sister have a bakery?", now=NOW).kept

    (episode,) = (item for item in kept if item.source == "episode")
    assert episode.text == "“I work as a marine biologist.” “My sister has a bakery.”"


def test_a_message_with_the_newer_value_is_not_left_out_for_the_older_that_it_names(alice: User) -> None:
    (before,) = talk(alice, "My boss is Mr Adeyemi.", days_ago=300)
    (after,) = talk(alice, "I've got a new boss, Katarzyna, Mr Adeyemi retired on Friday.")
    boss = {"key": "user/boss/name"}
    learned(alice, before, "The user's boss is called Mr Adeyemi.", "My boss is Mr Adeyemi.", value="Mr Adeyemi",
            status="expired", **boss)  # fmt: skip
    learned(alice, after, "The user's boss is called Katarzyna.", "I've got a new boss, Katarzyna", value="Katarzyna",
            status="proposed", **boss)  # fmt: skip

    found = retrieve(alice, "Who is my boss?", now=NOW)

    assert [(item.ref, item.qualifier) for item in found.kept] == [
        (f"message:{after}", "waiting (The user's boss is called Katarzyna.)")
    ]


def test_a_sentence_with_what_is_liked_now_stays_beside_what_is_liked_no_more(alice: User) -> None:
    (before,) = talk(alice, "i mostly listen to techno", days_ago=300)
    (after,) = talk(alice, "i'm so over techno, these days i listen to cumbia mostly")
    learned(alice, before, "The user mostly listens to techno.", "i mostly listen to techno", value="likes",
            key="user/taste:techno", status="expired")  # fmt: skip
    learned(alice, after, "The user likes cumbia.", "these days i listen to cumbia mostly", value="likes",
            key="user/taste:cumbia")  # fmt: skip

    found = retrieve(alice, "What kind of music do I listen to?", now=NOW)

    assert f"message:{after}" in [item.ref for item in found.kept]


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("What's my profession?", 0),
        ("Which port do I sail from?", 0),
        ("What's the port I sail from?", 0),
        ("Which port did I ever sail from?", 0),
        ("Which port did I say I sail from?", 1),
        ("What is the profession of the pirate in my story?", 1),
    ],
)
def test_what_is_made_up_answers_no_question_for_what_is_so(alice: User, question: str, kept: int) -> None:
    talk(alice, "Let's pretend: my profession is pirate, I sail from Tortuga.")
    found = retrieve(alice, question, now=NOW)
    assert len(found.kept) == kept
    assert kept or set(rules(found).values()) == {"made up"}


def test_a_fact_that_a_proposal_contradicts_is_contested_until_the_user_decides(alice: User) -> None:
    first, later = talk(alice, "I keep bees in Kent.", "The bees are in Surrey these days.")
    old = learned(alice, first, "The user keeps bees in Kent.", "I keep bees in Kent.")
    new = learned(alice, later, "The bees are in Surrey.", "The bees are in Surrey these days.", status="proposed")
    link(alice.pk, new.pk, FactLink.Relation.CONTRADICTS, old.pk, 0.7)

    def qualifiers() -> set[str]:
        return {item.qualifier for item in retrieve(alice, "bees in Kent", now=NOW).kept if "Kent" in item.text}

    assert qualifiers() == {f"contested by fact:{new.pk} (The bees are in Surrey.)"}
    Fact.objects.filter(pk=new.pk).update(status=Fact.Status.REJECTED)
    assert qualifiers() == {"current"}


def test_a_long_question_is_recalled_as_a_question(alice: User) -> None:
    talk(alice, "Is Hobart a good place to keep bees if the summers are dry and the winters windy?")

    (item,) = retrieve(alice, "Do I keep bees in Hobart?", now=NOW).kept

    assert item.qualifier == "asked, not stated"


def test_what_states_nothing_is_not_recalled_unless_something_was_learned_from_it(alice: User) -> None:
    said, _, _ = talk(alice, "great, bees it is then, lovely", "Bees like apple trees.", "I keep bees in Kent.")

    found = retrieve(alice, "bees lovely", now=NOW)
    assert "great, bees it is then, lovely" not in [item.text for item in found.kept]
    assert "states nothing" in {cut.rule for cut in found.cut}

    learned(alice, said, "The user keeps bees.", "bees it is then", status="proposed")
    assert "great, bees it is then, lovely" in [item.text for item in retrieve(alice, "bees lovely", now=NOW).kept]


@pytest.mark.parametrize("asks_past", [False, True])
def test_what_is_made_up_is_recalled_as_made_up(alice: User, asks_past: bool) -> None:
    talk(alice, "Let's do a roleplay. I'm Captain Voss and I keep bees on a station orbiting Titan.")

    (item,) = retrieve(
        alice, "Where did I keep bees in that roleplay?" if asks_past else "Who keeps bees in my role play?", now=NOW
    ).kept

    assert item.qualifier == "made up, not stated"


def test_every_other_memory_is_current(alice: User) -> None:
    talk(alice, "I keep bees in Kent.")
    Episode.objects.create(user=alice, title="Bees", summary="The user bought bees in Kent.", happened_at=NOW)
    document(alice, "/reference/bees", "Bees in Kent need shade.")

    found = retrieve(alice, "Tell me about my bees in Kent", now=NOW)

    assert {item.source for item in found.kept} == {"message", "episode", "document"}
    assert {item.qualifier for item in found.kept} == {"current"}


def test_the_document_of_a_conversation_keeps_neither_a_quoted_old_value_nor_its_topic(
    alice: User, moved: tuple[int, int, Fact, Fact]
) -> None:
    page = (
        "7 May 2026, 2 turns. [Open the conversation](/c/1)\n\nThe user wrote: “I live in Nantes”"
        " “My cousin lives in Brest”"
        "\n\nTopics: Nantes, live, cousin"
    )
    document(alice, "/conversations/2026-05-Fish", page, source="librarian", external_id=f"conversation:{uuid4()}")

    (item,) = (item for item in retrieve(alice, "Where do I live?", now=NOW).kept if item.source == "document")

    assert "Nantes" not in item.text


def test_a_superseded_job_is_known_where_someone_is_it(alice: User) -> None:
    new = learned(alice, talk(alice, "They made me a manager")[0], "The user is a manager.", "made me a manager",
                  key="user/job", value="manager")  # fmt: skip
    remember(alice, "The user is an engineer.", key="user/job", value="engineer", status=Fact.Status.SUPERSEDED,
             superseded_by=new, superseded_at=NOW)  # fmt: skip
    document(alice, "/reference/notes", "I'm an engineer at Acme")

    found = retrieve(alice, "What is my job at Acme?", now=NOW).kept
    (item,) = (item for item in found if item.source == "document")

    assert item.qualifier.startswith("superseded by")


def test_a_fact_that_denies_does_not_save_the_sentence_it_denies(alice: User) -> None:
    (said,) = talk(alice, "I'm allergic to shellfish, so no paella")
    denied = {"key": "user/allergy:shellfish", "kind": "constraint"}
    new = remember(alice, "The user is not allergic to shellfish.", value="no", **denied)[0]
    learned(alice, said, "The user is allergic to shellfish.", "I'm allergic to shellfish", value="yes",
            status=Fact.Status.SUPERSEDED, superseded_by=new, superseded_at=NOW, **denied)  # fmt: skip

    assert not [item for item in retrieve(alice, "Am I allergic to anything?", now=NOW).kept if "paella" in item.text]


def test_words_that_end_one_thing_and_start_another_are_not_superseded_by_what_they_start(alice: User) -> None:
    last = "Oskar has dropped the violin, he plays drums"
    (first,) = talk(alice, "My son Oskar plays the violin.", days_ago=90)
    (now,) = talk(alice, last)
    key = "oskar/pastime:violin"
    drums = learned(alice, now, "The user's son Oskar plays drums.", "he plays drums", status=Fact.Status.PROPOSED)
    learned(alice, first, "The user's son Oskar plays the violin.", "My son Oskar plays the violin.", value="yes",
            status=Fact.Status.SUPERSEDED, superseded_by=drums, superseded_at=NOW, key=key)  # fmt: skip

    (found,) = (item for item in retrieve(alice, "What does my son Oskar play?", now=NOW).kept if item.text == last)
    assert found.qualifier.startswith("waiting")


def test_a_value_in_another_form_of_its_word_is_not_denied_by_the_clause_beside_it(alice: User) -> None:
    (said,) = talk(alice, "I'm lactose intolerant so no cream pls. pasta sauce?")
    retold = "The user wrote: “I'm lactose intolerant so no cream pls.” “Gluten it is, I'm gluten intolerant.”"
    document(alice, "/conversations/2026-11-Sauce", retold, source="librarian", external_id=f"conversation:{uuid4()}")
    learned(alice, said, "The user is lactose intolerant.", "I'm lactose intolerant so no cream pls", value="lactose",
            status=Fact.Status.EXPIRED, key="user/condition:lactose_intolerance")  # fmt: skip

    assert "lactose" not in " ".join(item.text for item in retrieve(alice, "What am I intolerant to?", now=NOW).kept)


def test_a_sentence_that_denies_by_a_pronoun_is_recalled(alice: User) -> None:
    taken_back = "Ignore what I said about shellfish, I'm not allergic to it."
    first, *_ = talk(alice, "I'm allergic to shellfish, so no paella", "Okay.", taken_back)
    learned(alice, first, "The user is allergic to shellfish.", "I'm allergic to shellfish", value="yes",
            status=Fact.Status.SUPERSEDED, superseded_at=NOW, key="user/allergy:shellfish")  # fmt: skip

    found = retrieve(alice, "Am I allergic to shellfish?", now=NOW).kept
    assert [item.text for item in found] == [taken_back]


def test_what_holds_again_is_recalled_in_its_old_words(alice: User) -> None:
    (first,) = talk(alice, "I'm vegan, what milk is best.", days_ago=300)
    (again,) = talk(alice, "I've gone vegan again, properly this time.", days_ago=3)
    diet = {"key": "user/diet", "value": "vegan"}
    learned(alice, first, "The user is vegan.", "I'm vegan", status=Fact.Status.EXPIRED, **diet)
    learned(alice, again, "The user is vegan.", "I've gone vegan again", status=Fact.Status.PROPOSED, **diet)

    assert f"message:{again}" in [item.ref for item in retrieve(alice, "Am I vegan?", now=NOW).kept]


@pytest.mark.parametrize(
    ("status", "by", "qualifier"),
    [("superseded", 2, "superseded by fact:2 (The user lives in Lyon.)"), ("superseded", None, "retracted"),
     ("expired", None, "ended"), ("rejected", None, "rejected"), ("active", None, "current")],
)  # fmt: skip
def test_what_is_left_out_is_never_called_current(status: str, by: int | None, qualifier: str) -> None:
    newer = "The user lives in Lyon." if by else None
    fact = FactState(1, status, "The user lives in Nantes.", "", "user/home", "Nantes", None, by, newer)
    assert fact.qualifier(NOW) == qualifier
