"""Of all that was said, what a topic in other words means is ticked, and the rest isn't."""

import pytest

from accounts.models import User
from chat.models import Conversation
from memory.forgetting.select import select_topic
from tests.memory.forgetting.conversation import exchange

pytestmark = pytest.mark.django_db

SAID = (
    "Write to my team lead that I can't come. I'm ten weeks pregnant and nobody knows.",
    "Ruben has a bakery in Antwerp, and owes a lot from online poker.",
    "I applied at Remontowa last week. The interview is on Friday.",
    "My flatmate owes me a dinner.",
    "They offered me the post, 34,500 a year. The rent there is 900 a month.",
    "I am seeing Dr. Quist on Monday. I'm 91 kilos now.",
)


@pytest.mark.parametrize(
    ("topic", "ticked"),
    [
        ("the pregnancy", {"I'm ten weeks pregnant"}),
        ("his poker debts", {"owes a lot from online poker"}),
        ("Remontowa and the interview", {"I applied at Remontowa last week … The interview is on Friday"}),
        ("the salary", {"They offered me the post, 34,500 a year"}),
        ("my weight", {"I'm 91 kilos now"}),
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
