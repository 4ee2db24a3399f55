"""Of all that was said, what a topic in other words means is ticked, and the rest isn't."""

import pytest

from accounts.models import User
from chat.models import Conversation
from memory.forgetting.select import select_topic
from memory.index.indexer import embed_pending, index_conversation
from tests.memory.forgetting.conversation import exchange

pytestmark = pytest.mark.django_db

SAID = (
    "Write to my team lead that I can't come. I'm ten weeks pregnant and nobody knows.",
    "Ruben has a bakery in Antwerp, and owes a lot from online poker.",
    "I applied at Remontowa last week. The interview is on Friday.",
    "My flatmate owes me a dinner.",
    "They offered me the post, 34,500 a year. The rent there is 900 a month.",
    "I am seeing Dr. Quist on Monday. I'm 91 kilos now.",
    "A listing for my spare room: I'm at 14 Calder Row, second floor. It's a 5 minute drive to the tram.",
)


@pytest.mark.parametrize(
    ("topic", "ticked"),
    [
        ("the pregnancy", {"I'm ten weeks pregnant"}),
        ("his poker debts", {"owes a lot from online poker"}),
        ("Remontowa and the interview", {"I applied at Remontowa last week … The interview is on Friday"}),
        ("the salary", {"They offered me the post, 34,500 a year"}),
        ("my weight", {"I'm 91 kilos now"}),
        ("my street address", {"A listing for my spare room: I'm at 14 Calder Row"}),
        ("Dr Quist and the clinic", {"I am seeing Dr. Quist on Monday"}),
        ("the pregnancy; the dinner", {"I'm ten weeks pregnant", SAID[3]}),
    ],
)
def test_what_a_topic_means_in_other_words_is_ticked(alice: User, topic: str, ticked: set[str]) -> None:
    chat = Conversation.objects.create(user=alice, title="Work")
    for text in SAID:
        exchange(chat, text, "I see.")

    found = {match.text for match in select_topic(alice, topic) if match.is_ticked}

    assert {text.rstrip(".") for text in found} == {text.rstrip(".") for text in ticked}


@pytest.mark.parametrize(
    ("said", "topic", "parts"),
    [
        ("Prep me for a pay talk. I'm an analyst in Leeds. I make 61k.", "my salary", {0, 2}),
        ("My job is stressful. My sister is a nurse in Leeds. I like tea.", "my job", {0}),
        (
            "I bake. I'm in a dispute with a builder. I paid them 22,000. They blame it on the rain. My son is 4.",
            "the dispute",
            {1, 2, 3},
        ),
        ("My sister is pregnant, in secret. She moved to Coventry. It has a cathedral.", "the pregnancy", {0}),
        ("My sister Lotte had a boy in August, his name is Noor. I like tea.", "my sister", {0, 1}),
        ("My sister Lotte is a nurse and she lives in Leeds. I like tea.", "my sister", {0, 1}),
        ("My clinic is in Leeds, its number is 4471. My son is 4.", "my clinic", {0, 1}),
        ("My dog is in Leeds and he is old. My son is 4.", "my dog", {0, 1}),
        ("My boat is in Leeds and he is old. My son is 4.", "my boat", {0}),
        ("Is my weight fine? My dog weighs 12 kilos. I like tea.", "my weight", {0}),
    ],
)
def test_what_tells_it_of_the_user_in_other_words_is_ticked_and_of_no_one_else(
    alice: User, said: str, topic: str, parts: set[int]
) -> None:
    chat = Conversation.objects.create(user=alice, title="Work")
    exchange(chat, said, "I see.")

    (ref,) = [match.ref for match in select_topic(alice, topic) if match.is_ticked and match.kind == "message"]

    assert {int(part) for part in ref.split(":")[2].split(",")} == parts


def test_a_name_that_ends_like_a_verb_is_no_claim_so_that_its_topic_is_found_by_its_meaning(alice: User) -> None:
    chat = Conversation.objects.create(user=alice, title="Family")
    for text in ("Ines had a miscarriage in January. We're not a family of talkers.", "Ines has a flat in Graz."):
        exchange(chat, text, "I see.")
    index_conversation(chat.pk)
    embed_pending()

    found = [match.text for match in select_topic(alice, "Ines losing a baby") if match.is_ticked]

    assert found == ["Ines had a miscarriage in January"]
