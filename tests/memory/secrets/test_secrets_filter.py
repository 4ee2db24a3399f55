"""What is never stored: keys, passwords, card and identity numbers; and what only looks like one."""

import subprocess
import sys
import time

import pytest

from memory.secrets.secrets_filter import ACCOUNT, CARD, IDENTITY, KEY, MASK, mask_secrets, sensitive

# The numbers below are published examples of their countries, or invented with valid check digits.
HELD: list[tuple[str, str]] = [
    # named as a secret
    ("my password is hunter2", KEY),
    ("My password is the name of my dog", KEY),
    ("the password is correct horse battery staple", KEY),
    ("The password for the router: swordfish", KEY),
    ("pwd=letmein", KEY),
    ("my PIN is 4711", KEY),
    ("the cvv is 123", KEY),
    ("my recovery phrase was apple candle river", KEY),
    ("my BSN is 111222333", IDENTITY),
    ("my NHS number is 943 476 5919", IDENTITY),
    ("my social insurance number is 046 454 286", IDENTITY),
    ("my passport number is C01X00T47", IDENTITY),
    ("my driver's license is D1234567", IDENTITY),
    ("the account number is 12345678", IDENTITY),
    ("requests.get(url, headers={'Authorization': 'Bearer 9fQe72LmXv04'})", KEY),
    ("curl -H 'x-api-key: 8fa93jd02k'", KEY),
    ("p/w: tulip99", KEY),
    ("das Passwort lautet Krokus71", KEY),
    ("le mot de passe est : tulipe-44", KEY),
    ("пароль: tulip44", KEY),
    ("密码是 tulip44", KEY),
    ("pw: Tulpe", KEY),
    ("Passwort: Sonnenblume", KEY),
    ("Mein Kennwort ist Tulpe", KEY),
    ("la mia password è Girasole", KEY),
    ("Recovery codes:\n8f3a-91bc\n77de-01aa", KEY),
    ("GitHub backup codes\n1. 1a2b3-c4d5e\n2. 6f7g8-h9i0j", KEY),
    # as settings, markup and commands have them
    ("export DB_PASS=tulip", KEY),
    ('{"user": "me", "pw": "tulip"}', KEY),
    ("Server=db;User Id=sa;Password=tulip;", KEY),
    ("https://example.org/reset?token=abcdef123456", KEY),
    ("export DB_PASSWORD=hunter2", KEY),
    ("<user>me</user><password>tulip</password>", KEY),
    ('{"user": "me", "password": "tulip"}', KEY),
    ("curl -s -u admin:tulip https://example.org", KEY),
    ("otpauth://totp/Example:me?secret=JBSWY3DPEHPK3PXP&issuer=Example", KEY),
    # with a known shape
    ("tok_9fQe72LmXv04pRz", KEY),
    ("AKIAIOSFODNN7EXAMPLE", KEY),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", KEY),
    ("glpat-abcdefghij0123456789", KEY),
    ("xoxb-123456789012-abcdefabcdef", KEY),
    ("sk-ant-api03-abcdefghijklmnopqrstuv", KEY),
    ("sk_live_abcdefghijklmnopqrstuvwx", KEY),
    ("AIzaSyA1234567890abcdefghijklmnopqrstuv", KEY),
    ("npm_abcdefghijklmnopqrstuvwxyz0123456789", KEY),
    ("SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789abcdefg", KEY),
    ("123456789:ABCdefGHIjklMNOpqrSTUvwxYZ012345678", KEY),
    ("-----BEGIN OPENSSH PRIVATE KEY-----", KEY),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0", KEY),
    ("postgres://me:secret@db.example.org/app", KEY),
    ("the token is Xk7pQ2mZ9vL4nR8sT1wY6bA3cD5e", KEY),
    # nothing else in the message
    ("hunting7Moose_ladder", KEY),
    ("Tr0ub4dor&3\n", KEY),
    ("my number is 078-05-1120", IDENTITY),  # US
    ("AB 12 34 56 C", IDENTITY),  # UK
    # with check digits
    ("4111 1111 1111 1111", CARD),
    ("4012888888881881", CARD),
    ("3782 822463 10005", CARD),
    ("DE89 3704 0044 0532 0130 00", ACCOUNT),
    ("GB82WEST12345698765432", ACCOUNT),
    ("20-05536168-2", IDENTITY),  # Argentina
    ("85.07.30-033.28", IDENTITY),  # Belgium
    ("390.533.447-05", IDENTITY),  # Brazil
    ("756.9217.0769.85", IDENTITY),  # Switzerland
    ("12.531.909-2", IDENTITY),  # Chile
    ("360426199101010071", IDENTITY),  # China
    ("710319/2745", IDENTITY),  # Czechia
    ("36 574 261 809", IDENTITY),  # Germany
    ("211062-5629", IDENTITY),  # Denmark
    ("36805280109", IDENTITY),  # Estonia
    ("54362315-K", IDENTITY),  # Spain
    ("X-2482300W", IDENTITY),  # Spain, foreigners
    ("131052-308T", IDENTITY),  # Finland
    ("2 95 10 99 126 111 93", IDENTITY),  # France
    ("6433435F", IDENTITY),  # Ireland
    ("2341 2341 2346", IDENTITY),  # India
    ("ACUPA7085R", IDENTITY),  # India, tax
    ("450401-3150", IDENTITY),  # Iceland
    ("RCCMNL83S18D969H", IDENTITY),  # Italy
    ("971013-9019902", IDENTITY),  # Korea
    ("BOXW310820HNERXN09", IDENTITY),  # Mexico
    ("151086 95088", IDENTITY),  # Norway
    ("44051401359", IDENTITY),  # Poland
    ("00000000 0 ZZ4", IDENTITY),  # Portugal
    ("1630615123457", IDENTITY),  # Romania
    ("880320-0016", IDENTITY),  # Sweden
    ("1-2345-45678-78-1", IDENTITY),  # Thailand
    ("7503305044089", IDENTITY),  # South Africa
]


@pytest.mark.parametrize(("text", "kind"), HELD)
def test_it_is_found_and_named_for_what_it_is(text: str, kind: str) -> None:
    assert sensitive(text) == kind


HARMLESS = [
    "DB_PASSWORD=$DB_PASSWORD docker compose up",
    "Ich habe mein Passwort vergessen",
    "das Passwort ist falsch",
    "curl -u needs a name and a password",
    "<password></password>",
    "Das Passwort ist leider falsch",
    "la contraseña es demasiado corta",
    "pw: $DB_PASSWORD",
    "PASS=120 FAIL=0",
    "I gave her the password to Netflix",
    "pw = getpass()",
    "backup codes: keep them in the drawer",
    "The seed catalogue: carrots, leeks, beans, peas, chard, onions, beets, kale",
    "the years 2019/2020/2021/2022, 2016.2017.2018.2019",
    "see https://example.org/token?page=2",
    "Это не пароль, а слово",
    # one digit changed
    "4111 1111 1111 1112",
    "DE88 3704 0044 0532 0130 00",
    "390.533.447-06",
    "12345678A",
    "RCCMNL83S18D969A",
    "2341 2341 2347",
    "811228-9875",
    # telephones, dates, orders, sizes
    "my phone is 912 345 678",
    "call me at 123-456-7890",
    "+44 20 7946 0958",
    "06 12 34 56 78",
    "0151 23456789",
    "1-800-273-8255",
    "I was born on 1990-05-04",
    "2026-11-22 08:33:12",
    "order 10002345678, please",
    "parcel 1Z999AA10123456784",
    "ISBN 978-3-16-148410-0",
    "My goal is to read 1000000000000 words",
    "0000 0000 0000 0000",
    "my zip code is 12345-6789",
    "flight LH4321 on 2027-05-01",
    "192.168.178.24",
    "version 3.13.0rc1",
    "550e8400-e29b-41d4-a716-446655440000",
    "https://example.org/a/very/long/path-with-many-words-in-it",
    "supercalifragilisticexpialidocious",
    "APARTMENTCOMPLEX",
    "the bearer of good news in 2024",
    "my variable is called token_count2",
    "iPhone15Pro",
    "get_user_by_id2",
    # sentences about secrets that reveal none
    "I use the password manager Bitwarden",
    "The password is wrong.",
    "my password is not accepted",
    "the API key is invalid, it says",
    "I forgot my PIN",
    "I have 12,500 in my bank account",
    "my bank account has 2500 dollars",
    "my passport expires on 2027-05-01",
    "I renewed my passport in 2019",
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_one_is_let_through(text: str) -> None:
    assert sensitive(text) is None


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        ("4111\u00a01111\u00a01111\u00a01111", CARD),  # from a page
        ("4111\u20111111\u20111111\u20111111", CARD),  # from a word processor
        ("4111\u200b1111\u200b1111\u200b1111", CARD),
        ("\uff14\uff11\uff11\uff11 \uff11\uff11\uff11\uff11 \uff11\uff11\uff11\uff11 \uff11\uff11\uff11\uff11", CARD),
        ("DE89\u00a03704\u00a00044\u00a00532\u00a00130\u00a000", ACCOUNT),
        ("078\u201305\u20131120", IDENTITY),
        ("4111.1111.1111.1111", CARD),
        ("4111_1111_1111_1111", CARD),
        ("4111  1111  1111  1111", CARD),
        ("de89-3704-0044-0532-0130-00", ACCOUNT),
        ("DE89.3704.0044.0532.0130.00", ACCOUNT),
    ],
)
def test_a_number_is_found_in_any_digits_spaces_and_hyphens(number: str, kind: str) -> None:
    assert sensitive(number) == kind
    assert mask_secrets(f"It is {number}, I think.", is_own=False) == f"It is {MASK}, I think."


WORDS = [
    *("abandon", "ability", "able", "about", "above", "absent"),
    *("absorb", "abstract", "absurd", "abuse", "access", "accident"),
]


@pytest.mark.parametrize("is_own", [True, False])
@pytest.mark.parametrize(
    "phrase",
    [
        " ".join(WORDS),
        ", ".join(WORDS),
        "\n".join(WORDS * 2),
        " ".join(f"{number}. {word}" for number, word in enumerate(WORDS, 1)),
    ],
)
def test_a_recovery_phrase_is_masked_to_its_end(phrase: str, is_own: bool) -> None:
    assert mask_secrets(f"My wallet's seed phrase: {phrase}", is_own=is_own) == f"My wallet's seed phrase: {MASK}"


@pytest.mark.parametrize("is_own", [True, False])
@pytest.mark.parametrize("word", ["p\u0430ssword", "passw\u043erd", "\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44"])
def test_letters_that_only_look_like_others_hide_nothing(word: str, is_own: bool) -> None:
    assert mask_secrets(f"My {word} is hunter2.", is_own=is_own) == f"My {word} is {MASK}."


def test_a_key_is_masked_to_its_end() -> None:
    for key in ("glpat-abcdefghij0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"):
        assert mask_secrets(f"push with {key}, please", is_own=False) == f"push with {MASK}, please"


@pytest.mark.parametrize("place", [0, 3_400, 3_990, 7_499, 50_000])
def test_it_is_found_wherever_it_stands_in_a_long_text(place: int) -> None:
    text = ("some words " * 10_000)[:place] + " ghp_abcdefghijklmnopqrstuvwxyz0123456789 " + "and more " * 500
    assert sensitive(text) == KEY


@pytest.mark.parametrize(
    "text",
    [
        "http://",
        "a ",
        "1",
        "12 ",
        "password ",
        "A",
        "/",
        "xox",
        "my pin ",
        "-",
        "eyJ",
        "DE89 3704 ",
        "seed able ",
        "wallet ",
        "backup codes: 8f3a ",
    ],
)
def test_the_time_grows_with_the_length_and_no_faster(text: str) -> None:
    sensitive("warm")
    started = time.process_time()
    sensitive((text * 60_000)[:60_000])
    assert time.process_time() - started < 5


def test_the_lists_are_loaded_only_when_asked() -> None:
    """A web process that stores nothing pays neither the time nor the memory."""
    code = (
        "import memory.secrets.secrets_filter, sys; "
        "sys.exit(not sys.modules.keys().isdisjoint(['detect_secrets', 'stdnum', 'onnxruntime']))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
