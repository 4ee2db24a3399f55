"""What is never stored, not even in the review queue? Keys, passwords, card and identity numbers.

Numbers are told by their own check digits where they have them, so that a phone number is not taken for a card.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

_TOLD_WORD = (
    r"(?:password(?! manager)|passphrase|passcode|pwd|cvv|cvc|security code|secret key|private key"
    r"|api[ _-]?key|access[ _-]?token|auth(?:entication)?[ _-]?token|recovery (?:code|phrase)|seed phrase)"
)
_IDENTITY_WORD = (
    r"(?:social security|ssn|national insurance|national id|identity card|id card|passport"
    r"|tax(?:payer)? id(?:entification)?"
    r"|driver'?s licen[cs]e|driving licen[cs]e|credit card|debit card|bank account|account number|iban)"
)

_SAID_OUT: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a password or key", re.compile(rf"\b{_TOLD_WORD}\b[^.\n]{{0,40}}?(?:\bis\b|\bwas\b|[:=])\s*\S", re.I)),
    ("a password or key", re.compile(r"\bpin(?: code| number)?\b[^.\n]{0,20}?\b\d{4,8}\b", re.I)),
    # Five characters or more with a digit among them; a date such as the passport's expiry is none.
    (
        "an identity number",
        re.compile(
            rf"\b{_IDENTITY_WORD}\b[^.\n]{{0,40}}?(?<![\w-])(?!\d{{4}}-\d\d)(?=[A-Z-]{{0,12}}\d)[A-Z0-9-]{{5,34}}\b",
            re.I,
        ),
    ),
)  # fmt: skip
"""Named for what it is, with something behind it."""

_SHAPED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("a password or key", re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----")),
    ("a password or key", re.compile(r"\b(?:sk|pk|rk)[-_](?:ant[-_]|live[-_]|test[-_]|proj[-_])?[A-Za-z0-9_-]{16,}")),
    (
        "a password or key",
        re.compile(r"\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AIza|ya29\.|hf_)[A-Za-z0-9_-]{16,}"),
    ),
    ("a password or key", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("a password or key", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}")),  # a JSON web token
    ("a password or key", re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s:/@]{1,80}:[^\s:/@]{1,80}@", re.I)),
    ("an identity number", re.compile(r"\b\d{3}-\d{2}-\d{4}\b")),  # US social security
)  # fmt: skip
"""Told by their shape alone."""

_CARD = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b")
_RANDOM = re.compile(r"(?<![\w/.-])[A-Za-z0-9+_-]{28,}(?![\w/.-])")


def sensitive(text: str) -> str | None:
    """What kind of secret `text` holds, such as “a card number”; None: none that is known."""
    return next(_findings(text), None)


def _findings(text: str) -> Iterator[str]:
    for name, pattern in (*_SHAPED, *_SAID_OUT):
        if pattern.search(text):
            yield name
    if _any_passes(_CARD, text, passes_luhn):
        yield "a card number"
    if _any_passes(_IBAN, text, passes_iban):
        yield "an account number"
    if _any_passes(_RANDOM, text, _looks_random):
        yield "a password or key"


def _any_passes(pattern: re.Pattern[str], text: str, check: Callable[[str], bool]) -> bool:
    return any(check(found[0]) for found in pattern.finditer(text))


def passes_luhn(number: str) -> bool:
    """Whether the digits of a card number agree with its check digit (ISO/IEC 7812)."""
    digits = [int(char) for char in number if char.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits))]
    return len(set(digits)) > 1 and sum(doubled) % 10 == 0


def passes_iban(number: str) -> bool:
    """Whether an account number agrees with its check digits (ISO 13616)."""
    plain = number.replace(" ", "")
    if not 15 <= len(plain) <= 34:
        return False
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def _looks_random(word: str) -> bool:
    """Long, and capitals, small letters and digits in one word: a token, not a name."""
    return any(c.isupper() for c in word) and any(c.islower() for c in word) and sum(c.isdigit() for c in word) >= 3
