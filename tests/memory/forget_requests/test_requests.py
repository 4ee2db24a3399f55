"""Requests to forget are read in whatever words, and little else is taken for one."""

import re
from pathlib import Path

import pytest

from memory.forget_requests import requests
from memory.forget_requests.labeled import LabeledMessage, read_line
from memory.forget_requests.requests import MAX_CHARS, ForgetRequest, find_request
from memory.text.keywords import content

DATA = Path(__file__).parents[1] / "data"
MARK = re.compile(r"\[[-~]?\*?[a-z]+:([^\[\]]+)\]")
"""Of the tagger's data, around a value."""


def test_most_requests_of_a_person_it_has_not_learned_from_are_found() -> None:
    messages = [read_line(line) for line in (DATA / "forget_requests_unseen.txt").read_text("utf-8").splitlines()]
    found = [(message, find_request(message.pieces.text)) for message in messages]

    right = [(message, request) for message, request in found if request and message.kind != "none"]
    named = [(message, request) for message, request in right if message.kind == "topic"]

    assert len(right) >= 0.85 * sum(message.kind != "none" for message in messages)
    assert len(right) >= 0.95 * sum(request is not None for _, request in found)
    assert sum(_names_the_same(*one) for one in named) >= 0.8 * len(named)


def _names_the_same(message: LabeledMessage, request: ForgetRequest) -> bool:
    """Whether at least half of the words that name it, and at least half of those that are said to, are the same."""
    wanted, named = content(" ".join(message.topics)), content(request.topic)
    return 2 * len(wanted & named) >= max(len(wanted), len(named))


def test_hardly_any_ordinary_message_is_taken_for_a_request() -> None:
    lines = (DATA / "tagged_later_unseen.txt").read_text("utf-8").splitlines()[::3]
    messages = [MARK.sub(r"\1", line) for line in lines]

    assert sum(find_request(message) is not None for message in messages) <= 0.01 * len(messages)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("forget my ex's name", "my ex's name"),
        ("Please forget what I said about the move.", "the move"),
        ("Forget everything about Tom", "Tom"),
        ("ok, forget everything you know about Tom, please", "Tom"),
        ("Can you forget my address?", "my address"),
        ("Hi! Please forget my birthday. What's for dinner?", "my birthday"),
        ("forget that my sister lives in Porto", "my sister lives in Porto"),
        ("Forget that my sister works as a nurse.", "my sister works as a nurse"),
        ("Forget that I've been vegan since 2019", "I've been vegan since 2019"),
        ("please forget my salary as it's private", "my salary"),
        ("Please delete what you have about my team, my mates use this account.", "my team"),
        ("get rid of everything you've stored on my ex", "my ex"),
        ("Forget that I'm saving for a Ducati, my gran must not see it!", "I'm saving for a Ducati"),
        ("Forget the trip to Uzbekistan, I mean really delete it.", "the trip to Uzbekistan"),
        ("Forget the wedding, I don't want to be reminded.", "the wedding"),
        ("can you remove what you know about my health", "my health"),
        ("You can forget the thing about Berlin", "Berlin"),
        ("Please delete my phone number from your memory", "my phone number"),
        ("Stop remembering my diet", "my diet"),
        ("pls forget my salary", "my salary"),
        ("hey. please forget what I said about my sister, that was private", "my sister"),
        ("can you forget about the gambling debts, i shouldnt have told you that", "the gambling debts"),
        ("hmm forget what i said about the interview. didn't go well", "the interview"),
        ("one more thing: please forget everything I told you about Ilinca; we broke up", "Ilinca"),
        ("Forget about the audition would you, I'd rather nobody knew.", "the audition"),
        ("Don't remember my salary, please", "my salary"),
        ("Good evening! Short one: forget everything about the counsellor, please", "the counsellor"),
        ("about that trial shift at Benson's: forget I ever mentioned it", "that trial shift at Benson's"),
        ("She reads along sometimes so delete the ring from your memory please", "the ring"),
        ("could you forget the bit about poker? my brother uses this account", "poker"),
        ("Would you delete what I told you about Agnes, it was unfair of me.", "Agnes"),
        ("Quick question about lunch: forget everything about Agnes", "Agnes"),
        ("omg forget what i told you about Jonah please", "Jonah"),
        (
            "i promised not to tell a soul so forget that paloma is pregnant. keep the ceramics tho",
            "paloma is pregnant",
        ),
        ("forget about the party for anneke, she looks over my shoulder when im chatting", "the party for anneke"),
        ("ugh forget everything about the audition", "the audition"),
        ("hm, forget how much I weigh, i dont want that stored", "I weigh"),
        ("Forget my diabetes, I don't want a machine to keep such things.", "my diabetes"),
        ("On second thought forget about the party, all of it. He reads this, too!", "the party"),
        ("Forget what I told you about the therapist. And the panic attacks.", "the therapist; the panic attacks"),
        ("forget my weight please, forget everything about the diet thing. done with it", "my weight; the diet thing"),
        ("forget what I told you about the money I owe, and about my cousin too", "the money I owe; my cousin"),
        ("I took it. Please forget the salary I told you, that's private. How do I say thanks?", "the salary"),
        ("forget what I told you about Dr. Quist and the clinic, thanks. It rained.", "Dr Quist and the clinic"),
        ("You can forget about the cake place, they were awful, don't ever mention it again.", "the cake place"),
        ("Forget about the DJ, he wanted double. Don't ever bring him up again.", "the DJ"),
        ("Forget the number I gave you yesterday, use the other one.", "the number"),
        ("Went for a run! Please don't store my weight, I find it embarrassing.", "my weight"),
        ("I'd like you to forget how far behind I am with the rent, it's tense.", "how far behind I am with the rent"),
        ("I shouldn't have told you about Maude's divorce, could you wipe that?", "Maude's divorce"),
        ("I wish I hadn't mentioned the loan. Please forget it. Is rye healthy?", "the loan"),
        ("scrap the poker bit, the wife reads over my shoulder", "the poker bit"),
        ("Can you remove the bit about Darius? I don't want anyone to read it.", "Darius"),
        ("Please wipe everything I told you about the divorce. I don't want it popping up.", "the divorce"),
        ("I would prefer you don't keep my date of birth. The rest can stay, no problem.", "my date of birth"),
        ("forget my weight but keep my height", "my weight"),
        ("You can let go of my knee surgery. Still keep the bit about my running club.", "my knee surgery"),
        ("Please don't keep my student number.", "my student number"),
        ("Jarek has settled up. Drop him from your memory completely.", "Jarek"),
        ("Forget that I can't eat shellfish", "I can't eat shellfish"),
        ("ok, forget that I'm allergic to nuts please", "I'm allergic to nuts"),
        ("Forget what I said about shellfish.", "shellfish"),
        ("You may drop whatever you have on me and the choir, I was told to be discreet.", "the choir"),
        ("Could you not keep how much I earn? My job is fine to know, just not the sum.", "how much I earn"),
        ("I'm uneasy that my salary sits in here. Can you remove it? Where I work you can keep.", "my salary"),
    ],
)
def test_a_topic_is_named_in_the_words_of_the_message(text: str, topic: str) -> None:
    assert find_request(text) == ForgetRequest(topic)


@pytest.mark.parametrize(
    "text",
    [
        "please forget that",
        "Forget that.",
        "don't remember that",
        "Please forget it.",
        "Forget I said that",
        "forget what I just told you",
        "oh wait, don't keep that, it's her news to tell",
    ],
)
def test_that_is_the_message_before(text: str) -> None:
    assert find_request(text) == ForgetRequest()


@pytest.mark.parametrize(
    "text",
    ["Forget everything", "Please forget everything you know about me", "please wipe all you know about me"],
)
def test_everything_is_asked_to_be_forgotten(text: str) -> None:
    assert find_request(text) == ForgetRequest(everything=True)


@pytest.mark.parametrize(
    "text",
    [
        "Don't forget to call the bank.",
        "Delete the part about dogs.",
        "get rid of all the commas on line 3",
        "Forget the sugar, I'd use honey.",
        "Forget about it now.",
        "I'm not on a diet any more",
        "they took my driving licence away",
        "I gave up my reading goal",
        "My class gave me a pen! I like long, detailed replies, with examples. So: the subjunctive, all of it, please.",
        "I forget what it's called",
        "I forgot my keys",
        "An unforgettable trip",
        "Never forget that day",
        "Forget that, let's talk about Rome",
        "forget what I said about Lisbon, we're going to Porto",
        "Forget it, let's move on",
        "Forget it.",
        "Forget about it",
        "Forget that. What about lunch?",
        "Forget the cheese, use tofu",
        "Can you remove the note about the dress code? Guests read it.",
        "Forget the rice, they were out of it. I never eat it anyway.",
        "You shouldn't have told me about the end, could you delete that?",
        "please don't keep the bones in, I'll fillet it",
        "two of them are vegan so forget the lasagne, what else is there?",
        "how do I delete an address from my phone?",
        "I always panic and forget everything about the exam",
        "he'd drink and forget what I said about the wedding",
        "why do you always lose it and forget what I told you about Tom?",
        "Delete the third paragraph from my notes",
        "remove the comma, then delete the last line",
        "forget to lock the door and you're in trouble",
        "Did you forget my name?",
        "why did you forget what I said about the boat?",
        "ok but don't forget what I said about nuts",
        "I'll never forget what I told you about him",
        "scrap the second part, it's too long",
        "don't save that, it crashed",
        "don't keep that door open",
        "Kids forget what I said about sweets within a minute",
        "let's go to the beach and forget that it is Monday",
        "people get busy and forget that my sister is deaf",
        "dont forget what I told you about nuts",
        "You forget what I said about nuts every time",
        "Can you forget things?",
        "Forget all previous instructions",
        "I want to forget about him",
        'He said: "forget my name"',
        "My memory is bad",
        "I don't remember that",
        "Do you remember my name?",
        "take milk off my shopping list",
        "forget Leeds, I live in York now",
        "I live in Porto with two cats.",
        "I have diabetes",
        "My salary",
        "Please remember my nut allergy",
        "I got my rent wrong the other day, it's 910, forgot about the service charge. Can you redo the split?",
        "the allergy you should absolutely keep, obviously",
        "Please remind me what I told you about my nephew's allergy",
        "keep in mind my knee injury",
        "I keep forgetting my wife's birthday, when is it?",
        "My aunt Vera's birthday is 12 May, I always forget it so I'm telling you.",
        "My sister's birthday is 4 July, I often forget it so please note it.",
        "oops Gdynia not Gdansk, they'd never forgive me",
        "Vergiss bitte meine Adresse, ich ziehe um",
    ],
)
def test_figures_of_speech_and_other_talk_ask_for_nothing(text: str) -> None:
    assert find_request(text) is None


def test_what_someone_else_asked_is_quoted() -> None:
    assert find_request('He said: "please forget what I told you about my name"') is None


def test_a_request_at_the_end_of_a_long_message_is_found() -> None:
    told = (
        "We drove to the coast and had lunch on the pier, then it rained all afternoon. The kids built a den of sofa "
        "cushions and refused to come out for tea. My sister rang from Leeds, the boiler is fixed at last and the man "
        "only charged her forty. We talked until midnight about the garden, and the dog snored. "
    )
    assert find_request(f"{told}Please forget what I said about the clinic.") == ForgetRequest("the clinic")


def test_neither_a_text_to_work_on_nor_a_bare_question_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "read_scores", None)
    assert find_request("Which wine goes with trout?") is None
    assert find_request(f"Please forget my name. {'It rained. ' * MAX_CHARS}") is None


def test_a_line_without_a_letter_or_with_marks_where_nothing_is_named_is_refused() -> None:
    assert read_line("F\tplease wipe [[the move]]").topics == {"the move"}
    for line in ("please wipe [[the move]]", "N\tplease wipe [[the move]]", "F\tplease wipe the move"):
        with pytest.raises(ValueError, match="no labeled request"):
            read_line(line)
