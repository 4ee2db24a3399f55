"""Secrets that are never stored, not even in the review queue: keys, passwords, card and identity numbers.

`sensitive(text)` finds a secret that is named (“my password is …”), has the shape of a known key (detect-secrets), or
has valid check digits (python-stdnum), so that a phone or order number is not taken for a card.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector

KEY: Final = "a password or key"
IDENTITY: Final = "an identity number"
CARD: Final = "a card number"
ACCOUNT: Final = "an account number"

# Named for what it is ------------------------------------------------------------------------------------------------

_TOLD_WORD = (
    r"(?:password(?! manager)|passphrase|passcode|pwd|cvv|cvc|security code|secret key|private key"
    r"|api[ _-]?key|access[ _-]?token|auth(?:entication)?[ _-]?token|recovery (?:code|phrase)|seed phrase)"
)
_NO_VALUE = (
    r"(?!(?:not|n[o']t|never|no|now|too|so|very|in|on|at|being|still|also|stored|saved|kept|hashed|encrypted|required"
    r"|missing|needed)\b"
    r"|(?:empty|invalid|valid|wrong|correct|incorrect|expired|unknown|set|safe|secure|weak|strong|changed|reset"
    r"|optional|undefined|null)\b(?= (?:and|but|so|again|now|because|for|by)\b|\s{0,5}(?:[.,;:!?)]|$)))"
)
"""“My password is wrong” and “… is not accepted” tell none; “… is correct horse battery staple” does."""
_IDENTITY_WORD = (
    r"(?:social (?:security|insurance)|ssn|national insurance|national id|identity card|id card|passport"
    r"|tax(?:payer)? (?:id(?:entification)?|file number)|nhs number|medicare number|aadhaar|pesel|bsn|cpf|curp|dni"
    r"|nif|codice fiscale|personnummer|driver'?s licen[cs]e|driving licen[cs]e"
    r"|(?:credit|debit|bank) card|bank account|account number|sort code|routing number|iban)"
)

_SAID_OUT: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (KEY, re.compile(rf"\b{_TOLD_WORD}\b[^.\n]{{0,40}}?(?:\b(?:is|was)\s{{1,5}}{_NO_VALUE}|[:=]\s{{0,5}})\S", re.I)),
    (KEY, re.compile(r"\bpin(?: code| number)?\b[^.\n]{0,20}?\b\d{4,8}\b", re.I)),
    # Five characters or more with a digit among them, or grouped digits; a date such as the passport's expiry is none.
    (
        IDENTITY,
        re.compile(
            rf"\b{_IDENTITY_WORD}\b[^.\n]{{0,40}}?(?<![\w-])(?!\d{{4}}-\d\d|\d{{1,3}}(?:,\d{{3}})+)"
            r"(?:(?=[A-Z-]{0,12}\d)[A-Z0-9-]{5,34}|\d{2,4}(?: \d{2,4}){1,5})\b",
            re.I,
        ),
    ),
)
"""A word that says what follows, with something behind it."""

# Of a shape of its own -----------------------------------------------------------------------------------------------

_DETECTORS: Final = (
    "aws.AWSKeyDetector",
    "azure_storage_key.AzureStorageKeyDetector",
    "basic_auth.BasicAuthDetector",
    "cloudant.CloudantDetector",
    "discord.DiscordBotTokenDetector",
    "github_token.GitHubTokenDetector",
    "gitlab_token.GitLabTokenDetector",
    "ibm_cloud_iam.IbmCloudIamDetector",
    "ibm_cos_hmac.IbmCosHmacDetector",
    "jwt.JwtTokenDetector",
    "mailchimp.MailchimpDetector",
    "openai.OpenAIDetector",
    "private_key.PrivateKeyDetector",
    "pypi_token.PypiTokenDetector",
    "sendgrid.SendGridDetector",
    "slack.SlackDetector",
    "softlayer.SoftlayerDetector",
    "square_oauth.SquareOAuthDetector",
    "stripe.StripeDetector",
    "telegram_token.TelegramBotTokenDetector",
    "twilio.TwilioKeyDetector",
)
"""Those of detect-secrets that know a shape. Not: its guesses by entropy and by assignment (made for source code, they
take long words and settings in talk for secrets), public IP addresses (no secret), Artifactory (fits words in
capitals), npm (quadratic on a line of slashes)."""

_SHAPED: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    # What detect-secrets 1.5 does not know: keys of model providers, Stripe's test keys, newer tokens, Google's.
    (KEY, re.compile(r"\b(?:sk|pk|rk)[-_](?:ant[-_]|live[-_]|test[-_]|proj[-_])?[A-Za-z0-9_-]{16,}")),
    (KEY, re.compile(r"\b(?:github_pat_|xox[ce]-|xapp-|AIza|ya29\.|hf_|gsk_|dop_v1_|shpat_)[A-Za-z0-9_-]{16,}")),
    (KEY, re.compile(r"\bnpm_[A-Za-z0-9]{36}\b|_authToken\s{0,5}=\s{0,5}\S")),
    (KEY, re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY")),
    (IDENTITY, re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")),  # US: social security has no check digit
    # UK: national insurance has none either
    (IDENTITY, re.compile(r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b")),
)

# With check digits ---------------------------------------------------------------------------------------------------

_CHECKED: Final[tuple[tuple[str, str, re.Pattern[str]], ...]] = tuple(
    (name, module, re.compile(rf"(?<![\w.-])(?:{shape})(?![\w-])"))
    for name, module, shape in (
        (ACCOUNT, "iban", r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?"),
        (ACCOUNT, "es.ccc", r"\d{4}[ -]\d{4}[ -]\d{2}[ -]\d{10}"),
        (ACCOUNT, "nz.bankaccount", r"\d{2}-\d{4}-\d{7}-\d{2,3}"),
        (IDENTITY, "ar.cuit", r"\d{2}-\d{8}-\d"),
        (IDENTITY, "be.nn", r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}|\d{11}"),
        (IDENTITY, "br.cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}"),
        (IDENTITY, "ch.ssn", r"756\.\d{4}\.\d{4}\.\d{2}|756\d{10}"),
        (IDENTITY, "cl.rut", r"\d{1,2}\.\d{3}\.\d{3}-[\dkK]"),
        (IDENTITY, "cn.ric", r"\d{17}[\dX]"),
        (IDENTITY, "cz.rc", r"\d{6}/\d{3,4}"),
        (IDENTITY, "de.idnr", r"[1-9]\d(?: ?\d{3}){3}"),
        (IDENTITY, "dk.cpr", r"\d{6}-\d{4}"),
        (IDENTITY, "ee.ik", r"\d{11}"),
        (IDENTITY, "es.dni", r"\d{8}-?[A-Z]"),
        (IDENTITY, "es.nie", r"[XYZ]-?\d{7}-?[A-Z]"),
        (IDENTITY, "fi.hetu", r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]"),
        (IDENTITY, "fr.nir", r"[12] ?\d{2} ?\d{2} ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}"),
        (IDENTITY, "gr.amka", r"\d{11}"),
        (IDENTITY, "ie.pps", r"\d{7}[A-W][ABHW]?"),
        (IDENTITY, "in_.aadhaar", r"[2-9]\d{3}[ -]\d{4}[ -]\d{4}"),
        (IDENTITY, "in_.pan", r"[A-Z]{5}\d{4}[A-Z]"),
        (IDENTITY, "is_.kennitala", r"\d{6}-\d{4}"),
        (IDENTITY, "it.codicefiscale", r"[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z]"),
        (IDENTITY, "kr.rrn", r"\d{6}-\d{7}"),
        (IDENTITY, "mx.curp", r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d"),
        (IDENTITY, "my.nric", r"\d{6}-\d{2}-\d{4}"),
        (IDENTITY, "no.fodselsnummer", r"\d{6} ?\d{5}"),
        (IDENTITY, "pl.pesel", r"\d{11}"),
        (IDENTITY, "pt.cc", r"\d{8} ?\d ?[A-Z0-9]{2}\d"),
        (IDENTITY, "ro.cnp", r"[1-9]\d{12}"),
        (IDENTITY, "se.personnummer", r"(?:\d{2})?\d{6}[-+]\d{4}"),
        (IDENTITY, "th.pin", r"\d-\d{4}-\d{5}-\d{2}-\d"),
        (IDENTITY, "za.idnr", r"\d{13}"),
        (CARD, "luhn", r"[2-6]\d{3}(?:[ -]?\d{4}){3}(?:[ -]?\d{1,3})?|3\d{3}[ -]?\d{6}[ -]?\d{5}|[2-6]\d{12,18}"),
    )
)
"""Module of python-stdnum, and how such a number is written. Only where shape and check digits together let a number
that is none through less than once in a hundred: eleven digits whose only check is one digit (Croatia, Turkey), nine
or ten of any sort (the Netherlands, Canada, the NHS, phone numbers) are found by their name above."""

_DIGIT: Final = re.compile(r"\d")

_RANDOM: Final = re.compile(r"(?<![\w/.-])[A-Za-z0-9+_-]{28,200}(?![\w/.-])")

WINDOW: Final = 4_000
OVERLAP: Final = 500
"""Characters looked at in one go, and twice: some of the shapes are looked for in quadratic time, and a private key's
first line, or an account number, is shorter than the overlap."""


def sensitive(text: str) -> str | None:
    """What kind of secret `text` holds, such as “a card number”; None: none that is known. Linear in its length."""
    return next((found for window in _windows(text) for found in _findings(window)), None)


def _windows(text: str) -> Iterator[str]:
    for start in range(0, max(1, len(text) - OVERLAP), WINDOW - OVERLAP):
        yield text[start : start + WINDOW]


def _findings(text: str) -> Iterator[str]:
    for name, pattern in (*_SHAPED, *_SAID_OUT):
        if pattern.search(text):
            yield name
    for name, module, pattern in _CHECKED if _DIGIT.search(text) else ():  # a digit is in every one of them
        if any(_passes(module)(found[0]) for found in pattern.finditer(text)):
            yield name
    if any(_looks_random(found[0]) for found in _RANDOM.finditer(text)):
        yield KEY
    if any(True for detector in _detectors() for _ in detector.analyze_string(text)):
        yield KEY


@cache
def _detectors() -> tuple[RegexBasedDetector, ...]:
    """Made at the first question: loading them takes a quarter of a second and 20 MB, which no web process needs."""
    names = (path.split(".") for path in _DETECTORS)
    return tuple(getattr(import_module(f"detect_secrets.plugins.{module}"), name)() for module, name in names)


@cache
def _passes(module: str) -> Callable[[str], bool]:
    """Whether a number's digits agree with its check digits, by the rules of that country."""
    valid: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    if module == "luhn":  # which knows no separators, and takes one digit repeated for a number
        return lambda number: len(set(_digits(number))) > 1 and valid(_digits(number))
    return valid


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)


def _looks_random(word: str) -> bool:
    """Long, and capitals, small letters and digits in one word: a token, not a name."""
    return any(c.isupper() for c in word) and any(c.islower() for c in word) and sum(c.isdigit() for c in word) >= 3
