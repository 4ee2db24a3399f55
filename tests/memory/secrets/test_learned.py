"""Secrets that no shape gives away, in messages that the network has not seen."""

from pathlib import Path
from random import Random

from memory.secrets.marked import exchanged, judge, read_secrets
from memory.secrets.secrets_filter import find_secrets, mask_secrets, secret_values, sensitive, shaped_secrets

UNSEEN = Path(__file__).parents[1] / "data" / "secrets_unseen.txt"
"""200 messages by an author whose messages it was not trained on."""


def test_most_secrets_are_masked_and_little_else() -> None:
    messages = [read_secrets(line) for line in UNSEEN.read_text("utf-8").splitlines()]
    found = [[place for _, place in find_secrets(message.pieces.text)] for message in messages]

    score = judge(messages, found)

    assert score.whole >= 0.7 * (score.whole + score.part + score.missed)
    assert score.whole + score.part >= 0.8 * (score.whole + score.part + score.wrong)


def test_ordinary_talk_is_left_as_it_is() -> None:
    talk = (UNSEEN.parent / "updates_dev.talk").read_text("utf-8").splitlines()
    said = [line.removeprefix("message: ") for line in talk if line.startswith("message: ")]
    masked = [one for one in said if mask_secrets(one) != one]
    assert len(masked) <= 0.01 * len(said)


def test_ordinary_words_are_secret_only_where_something_says_so() -> None:
    notes = "Some notes about me:\n- name: Bengt\n- city: Uppsala\n- job: piano tuner\n- car: Volvo V60"
    for said in (
        notes,
        "The spare key of the boathouse is under the Gavepomuzuvu stone.",
        "yes!! second one",
        "23 ok got it",
        "how do i word a note to my line manager, i get migraines about twice a month",
    ):
        assert mask_secrets(said) == said
    assert mask_secrets("the wifi password is trombone garden") == "the wifi password is [secret]"


def test_emphasis_makes_no_word_a_secret_and_hides_none() -> None:
    for said in ("- Bed 2 need **copper** spray", "Bed 3 need **lime**", "- Bed 4 need _chalk_", "Bed 5 need ~~sand~~"):
        assert mask_secrets(said) == said
    assert mask_secrets("the gate code is **80352**, thanks") == "the gate code is **[secret]**, thanks"
    assert secret_values("use **Tulip!88** on the tablet, that's the password") == {"Tulip!88"}


def test_a_secret_is_known_by_what_is_said_of_it() -> None:
    told = "need a note for the plant sitter: ferns every 2 days, the key is in the lockbox by the gate, code 80352"
    assert mask_secrets(told) == told.replace("80352", "[secret]")
    assert secret_values(told) == {"80352"}
    assert mask_secrets("ferns every 2 days, 14 of them, order 80352") == "ferns every 2 days, 14 of them, order 80352"


def test_an_answer_is_read_for_shapes_and_for_what_the_question_told() -> None:
    answer = "Here is your note: the lockbox wants 80352."
    assert shaped_secrets(answer) == ()
    assert mask_secrets(answer, is_own=False) == answer
    assert mask_secrets(answer, {"80352"}, is_own=False) == "Here is your note: the lockbox wants [secret]."


def test_a_plain_statement_is_read_for_shapes_only() -> None:
    assert sensitive("The user has 3 cats.") is None
    assert sensitive("The user's password is hunter2.")


def test_a_long_paste_is_read_for_shapes_and_names() -> None:
    paste = f"my notes\n{'so tired today. ' * 300}\npassword: letmein\nthe door code is 4471\n"
    assert {paste[start:end] for _, (start, end) in find_secrets(paste)} == {"letmein", "4471"}


def test_marked_lines_and_their_exchange() -> None:
    lines = ["the pin is [secret:4471], thanks", "wifi: [secret:blue horse]", "nothing here"]
    message = read_secrets(lines[1])
    assert [message.pieces.text[start:end] for start, end in message.spans] == ["blue horse"]
    assert sum(label == 1 for label in message.example.targets[0]) == 2
    others = list(exchanged(lines, Random(2)))
    assert len(others) == 2
    assert all(one.startswith(("the pin is [secret:", "wifi: [secret:")) for one in others)


def test_a_text_that_is_masked_already_stays_as_it_is() -> None:
    masked = "The wifi password is [secret] and our dog Rex chewed the router."
    assert mask_secrets(masked) == masked
    assert mask_secrets(f"{masked} The new password is Larch-42-moor.") == f"{masked} The new password is [secret]."


def test_ages_in_brackets_are_no_secret() -> None:
    assert not find_secrets("kids are Thabo (11), Lerato (8) and Sizwe (4), the small one gets sick")
