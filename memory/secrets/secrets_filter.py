"""Secrets: keys, passwords, codes, card and identity numbers. Never stored as memories, and masked after their turn.

`sensitive(text)` finds a secret that a small network marks by what is said of it (`learned.py`), that has the shape of
a known key (detect-secrets), or valid check digits (python-stdnum), so that a phone or order number is not taken for a
card. `mask_secrets` replaces them wherever a text leaves the turn it was written in: the index, recall, history,
exports of the context.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from memory.secrets.governed import is_something_else
from memory.text.remembered import remembered
from memory.text.user_text import Span

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector

KEY: Final = "a password or key"
IDENTITY: Final = "an identity number"
CARD: Final = "a card number"
ACCOUNT: Final = "an account number"

# Named for what it is ------------------------------------------------------------------------------------------------

_TOLD_WORD = (
    r"(?:password(?! manager)|passphrase|passcode|pwd|cvv|cvc|security code|secret key|private key"
    r"|api[ _-]?key|access[ _-]?token|auth(?:entication)?[ _-]?token|recovery (?:code|phrase)|seed phrase"
    r"|wi-?fi (?:key|code|pass)|(?:door|gate|alarm|safe|vault|locker|entry|unlock|garage|keypad|lock|login|backup"
    r"|one-time|verification|2fa|access) code|code (?:for|to|of) (?:the|my|our) (?:[\w-]+ ){0,2}"
    r"(?:door|gate|alarm|safe|vault|locker|lock|garage|building|flat|house|shed|lift|padlock|keypad)"
    r"|(?:lock|safe|vault|padlock|bike)(?:'s)? combination|combination (?:for|to|of) (?:the|my|our) [\w-]+)"
)
_LOGIN_WORD = r"(?:log-?in|logon|credentials?|user ?name|sign-?in|account|router|wi-?fi|pass|pwd?|admin)"
_NO_VALUE = (
    r"(?!(?:not|n[o']t|never|no|now|too|so|very|in|on|at|being|still|also|stored|saved|kept|hashed|encrypted|required"
    r"|missing|needed)\b"
    r"|(?:empty|invalid|valid|wrong|correct|incorrect|expired|unknown|set|safe|secure|weak|strong|changed|reset"
    r"|optional|undefined|null)\b(?= (?:and|but|so|again|now|because|for|by)\b|\s{0,5}(?:[.,;:!?)]|$)))"
)
"""“My password is wrong” and “… is not accepted” state none; “… is correct horse battery staple” does."""
_FOREIGN_WORD = r"kennwort|passwort|mot de passe|contraseña|senha|wachtwoord|lösenord|adgangskode|hasło|salasana|пароль"
_IS = r"is|ist|lautet|est|es|é|è|är|это"
_CODE = r"(?:[-*•]\s?|\d{1,2}[.)]\s?)?(?=[a-z-]{0,12}\d)[a-z0-9]{3,12}(?:-[a-z0-9]{3,12}){0,3}\b"
_SEED_WORD = r"(?:\d{1,2}[.):]?\s?)?(?!(?:the|and|was|were|are|for|his|her|had|not|but|from|with)\b)[a-z]{3,8}\b"
_IDENTITY_WORD = (
    r"(?:social (?:security|insurance)|ssn|national insurance|national id|identity card|id card|passport"
    r"|tax(?:payer)? (?:id(?:entification)?|file number)|nhs number|medicare number|aadhaar|pesel|bsn|cpf|curp|dni"
    r"|nif|codice fiscale|personnummer|driver'?s licen[cs]e|driving licen[cs]e"
    r"|(?:credit|debit|bank) card|bank account|account number|sort code|routing number|iban)"
)

_TOLD: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        KEY,
        re.compile(
            rf"\b{_TOLD_WORD}\b[^.\n]{{0,40}}?(?:(?:\b(?:is|was)|['’]s)\s{{1,5}}{_NO_VALUE}|[:=]\s{{0,5}})(?P<value>\S)",
            re.I,
        ),
    ),
    # “hunting7Moose_ladder” and no other word: meant for another window
    (
        KEY,
        re.compile(
            r"\A\s{0,5}(?P<value>(?=[^\sA-Z]{0,60}[A-Z])(?=[^\sa-z]{0,60}[a-z])(?=[^\s\d]{0,60}\d)"
            r"(?:(?=\w{0,60}[!#$%^&*?+=~])[\w!#$%^&*?+=~-]{8,64}|\w{14,64}))\s{0,5}\Z"
        ),
    ),
    # “hunter2 is my password”
    (
        KEY,
        re.compile(
            r"(?<!\S)(?P<value>(?=\S{0,40}\d)\S{5,60}) is (?:my|our|the) (?:[\w-]+ )?(?:password|passcode)\b", re.I
        ),
    ),
)
"""Half of what these find is none: they are for texts that the network doesn't read."""
_SAID_OUT: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    # “Change the password to delta-99”: a word with a digit; “to the door” and “to something longer” don't count.
    (
        KEY,
        re.compile(rf"\b{_TOLD_WORD}\b[^.\n]{{0,40}}?\bto\s{{1,5}}(?P<value>[\"'“‘]?(?=\S{{0,60}}\d)\S{{4,}})", re.I),
    ),
    # “The login is admin / Zebra!horse9”: letters, a digit and a sign in one word; an address or a link is none.
    (
        KEY,
        re.compile(
            rf"\b{_LOGIN_WORD}\b[^\n]{{0,60}}?(?<!\S)(?P<value>(?!\S{{1,60}}@\S{{1,60}}\.|\w{{2,8}}://)"
            r"(?=\S{0,40}[A-Za-z])(?=\S{0,40}\d)(?=\S{1,40}[!#$%^&*?@+=~]\S)\S{7,80})",
            re.I,
        ),
    ),
    # “pw: tulip”, “Passwort: Tulpe”, “Password=tulip;”
    (
        KEY,
        re.compile(
            rf"\b(?:(?:p/?w|pwd|passwd|{_FOREIGN_WORD})\s?[:=：]|(?:password|passphrase|passcode)\s?=)\s{{0,3}}"
            rf"[\"'“„«]?{_NO_VALUE}(?P<value>(?![$<{{*•/~(\[\"']|[\w.]{{1,60}}[(\[.]|None\b|null\b)[^\s;]{{3,100}})",
            re.I,
        ),
    ),
    # “Mein Kennwort ist Tulpe”: a word with a capital or a digit; “falsch” and “demasiado corta” have none.
    (
        KEY,
        re.compile(
            rf"\b(?:password|{_FOREIGN_WORD})\s(?:{_IS})\s[\"'“„«]?{_NO_VALUE}"
            r"(?P<value>(?=\S{0,40}(?-i:[\dA-ZÀ-ÞА-Я]))\S{4,100})",
            re.I,
        ),
    ),
    # “Recovery codes: 8f3a-91bc, 77de-01aa”, on one line or one a line
    (
        KEY,
        re.compile(
            r"\b(?:recovery|backup|scratch|emergency|one-time) codes?\b[^\n:]{0,30}[:\n]\s{0,5}"
            rf"(?P<value>{_CODE}(?:[\s,;]{{1,4}}{_CODE}){{0,23}})",
            re.I,
        ),
    ),
    # “Seed phrase: 1. abandon 2. ability …”: a dozen words or more, of the lengths that such words have
    (
        KEY,
        re.compile(
            rf"\b(?:seed|mnemonic|wallet|recovery|backup)\b[^\n]{{0,40}}?[:\s]\s{{0,3}}"
            rf"(?P<value>{_SEED_WORD}(?:[\s,;]{{1,3}}{_SEED_WORD}){{11,23}})",
            re.I,
        ),
    ),
    # “pw hunter2”, “pass is hunter2”
    (KEY, re.compile(r"\b(?:p/?w|pass|pwd|login)(?: is|['’]s|:| =)? (?P<value>(?=[^\s\d]{1,40}\d)\S{5,60})", re.I)),
    # “Authorization: Bearer tok_9fQe72Lm”, “x-api-key=…”: a word of eight or more signs with a digit
    (
        KEY,
        re.compile(
            r"\b(?:authorization|bearer|x-api-key|x-auth-token|client_secret)\b[\"']?\s{0,3}[:=]?\s{0,3}[\"']?"
            r"(?:(?:bearer|basic|token)\s{1,3})?(?P<value>(?=[\w.~+/-]{0,60}\d)[\w.~+/-]{8,200}={0,2})",
            re.I,
        ),
    ),
    # “The new code of the staff room is 6650”
    (
        KEY,
        re.compile(
            r"\b(?:the|my|our|your|new|old|current) code(?: (?:of|for|to|at|on|in)(?: [\w'’-]{1,20}){1,4})?"
            r"(?: is| was|:)\s(?P<value>[#*]?(?=[A-Z]?\d)[A-Z]?\d[\d#*-]{3,11}[A-Z]?)(?![\w.,:/%]\w)",
            re.I,
        ),
    ),
    # “The safe opens with 9917”
    (
        KEY,
        re.compile(
            r"\b(?:open|unlock|disarm)(?:s|ed)? with\s"
            r"(?P<value>[#*]?(?=[A-Z]?\d)[A-Z]?\d[\d#*-]{2,11}[A-Z]?)(?![\w.,:/%]\w)",
            re.I,
        ),
    ),
    (KEY, re.compile(r"\bpin(?: code| number)?\b[^.\n]{0,20}?\b(?P<value>\d{4,8})\b", re.I)),
    (KEY, re.compile(r"\bcv[cv]2?\b[^.\n]{0,12}?\b(?P<value>\d{3,4})\b", re.I)),
    # Five characters or more with a digit among them, or grouped digits; a date such as the passport's expiry doesn't
    # count.
    (
        IDENTITY,
        re.compile(
            rf"\b{_IDENTITY_WORD}\b[^.\n]{{0,40}}?(?<![\w-])(?!\d{{4}}-\d\d|\d{{1,3}}(?:,\d{{3}})+)"
            r"(?P<value>(?=[A-Z-]{0,12}\d)[A-Z0-9-]{5,34}|\d{2,4}(?: \d{2,4}){1,5})\b",
            re.I,
        ),
    ),
)
"""A word that names a secret, followed by its value."""

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
"""The detectors of detect-secrets that know a shape. Left out: its guesses by entropy and by assignment (made for
source code, they take long words and settings in conversations for secrets), public IP addresses (not secret),
Artifactory (matches words in capitals), npm (quadratic on a line of slashes).
"""

_SHAPED: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    # Shapes that detect-secrets 1.5 doesn't know: keys of model providers, Stripe's test keys, newer tokens, Google's.
    (KEY, re.compile(r"\b(?:sk|pk|rk)[-_](?:ant[-_]|live[-_]|test[-_]|proj[-_])?[A-Za-z0-9_-]{16,}")),
    (KEY, re.compile(r"\b(?:github_pat_|xox[ce]-|xapp-|AIza|ya29\.|hf_|gsk_|dop_v1_|shpat_)[A-Za-z0-9_-]{16,}")),
    (KEY, re.compile(r"\b(?:tok|token|key|secret|sess|pat|api)_(?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{12,}")),
    (KEY, re.compile(r"\bnpm_[A-Za-z0-9]{36}\b|_authToken\s{0,5}=\s{0,5}\S")),
    (KEY, re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY")),
    (KEY, re.compile(r"\bAGE-SECRET-KEY-1[A-Z0-9]{10,80}|\botpauth://\S{8,300}")),
    # As settings, markup, JSON and a shell have them.
    (
        KEY,
        re.compile(
            r"\b(?:[A-Z][A-Z0-9]{0,30}_){0,4}(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|API_?KEY|ACCESS_?KEY)\s?=\s?"
            r"(?![$<]|os\.|env|getenv|\"\"|''|None\b)\S{3,200}"
        ),
    ),
    (KEY, re.compile(r"\b[A-Z][A-Z0-9_]{0,60}_(?:PASS|PWD|PW)\s?=\s?(?![$<]|\"\"|'')\S{3,200}")),
    (KEY, re.compile(r"[?&][a-z_]{0,20}(?:token|secret|password|api_?key|access_?key)=[^\s&#]{6,300}", re.I)),
    (KEY, re.compile(r"<(?:password|passwd|secret)>[^<\s]{1,200}", re.I)),
    (KEY, re.compile(r"[\"'](?:password|passwd|pwd|pw|secret|client_secret)[\"']\s?:\s?[\"'][^\"'\n]{1,200}", re.I)),
    (KEY, re.compile(r"\bcurl\b[^\n]{0,120}?\s(?:-u|--user)[ =][\"']?[^\s:\"']{1,60}:[^\s\"']{1,100}")),
    (
        KEY,
        re.compile(
            r"\b(?:kennwort|passwort|mot de passe|contraseña|senha|wachtwoord|lösenord|hasło|пароль|密码|パスワード)\s?"
            r"(?:(?:ist|lautet|est|es|é|is|är|to)\b|是|は)?\s?[:=：]?\s?[\"'«„“]?(?=\S{0,40}\d)\S{4,100}",
            re.I,
        ),
    ),
    (IDENTITY, re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")),  # US social security numbers have no check digit
    # Neither do UK national insurance numbers
    (IDENTITY, re.compile(r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]\b")),
)

# With check digits ---------------------------------------------------------------------------------------------------

_CHECKED: Final[tuple[tuple[str, str, re.Pattern[str]], ...]] = tuple(
    (name, module, re.compile(rf"(?<![\w.-])(?:{shape})(?![\w-])"))
    for name, module, shape in (
        (ACCOUNT, "iban", r"(?i:[A-Z]{2}\d{2}(?:[ .-]?[A-Z0-9]{4}){2,7}(?:[ .-]?[A-Z0-9]{1,3})?)"),
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
        (
            CARD,
            "luhn",
            # In groups of four; no card starts with 20 or 21, as a list of years does.
            r"(?:2[2-7]|[3-6]\d)\d\d(?:(?:[ ._/-]|  )?\d{4}){3}(?:[ ._/-]?\d{1,3})?"
            r"|3\d{3}[ ._/-]?\d{6}[ ._/-]?\d{5}|[2-6]\d{12,18}",
        ),
    )
)
"""Module of python-stdnum, and how such a number is written. Only types for which shape and check digits accept a
random number less than once in a hundred: eleven digits with a single check digit (Croatia, Turkey), and nine or ten
digits of any kind (the Netherlands, Canada, the NHS, phone numbers), are found by their name above.
"""

_DIGIT: Final = re.compile(r"\d")


class _Plain(dict[int, str]):
    """For `str.translate`: digits, spaces and hyphens of any kind, and what has no width, as ASCII has them.

    Copied pages and documents write a number with them. As long as the text, so places stay what they are.
    """

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        kind = unicodedata.category(sign)
        if kind == "Nd":
            sign = str(unicodedata.decimal(sign))
        elif kind in ("Zs", "Cf"):
            sign = " "
        elif kind == "Pd":
            sign = "-"
        self[code] = sign
        return sign


_PLAIN: Final = _Plain()
_MIXED: Final = re.compile(r"\b(?=\w*[A-Za-z])(?=\w*[\u0370-\u05ff])\w+")
"""A word of letters of two scripts. Looked for at its start only: at each letter of a long word would be quadratic."""
_LOOKALIKES: Final = str.maketrans("аеорсухіјѕԁһкмтвԝΑΒΕΗΙΚΜΝΟΡΤΧοανρεικ", "aeopcyxijsdhkmtbwABEHIKMNOPTXoavpeik")
_FULL_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}

_RANDOM: Final = re.compile(r"(?<![\w/.-])[A-Za-z0-9+_-]{28,200}(?![\w/.-])")

WINDOW: Final = 4_000
OVERLAP: Final = 500
"""Characters searched at once, and those that two windows share: some shapes take quadratic time, and a private key's
first line, or an account number, is shorter than the overlap."""


MASK: Final = "[secret]"
"""What replaces a secret."""
MIN_LENGTH: Final = 4
"""Minimum characters of a secret that is also masked where it is repeated."""
PIN_DIGITS: Final = 6
"""Minimum digits of a number that is also masked in later turns: 8080 may be a PIN in one turn and a number of files in
the next."""
CACHED: Final = 2_048
"""Texts whose secrets a process remembers: the texts of a history are in all of its prompts."""
_MAY_HOLD: Final = re.compile(
    r"\d|\S{16}|pass|pwd?\b|cv[cv]|cod[eo]|clave|contrase|kennwort|key|token|phrase|private|_authToken|secret|log-?in|wallet|mnemonic"
    r"|\block|wi-?fi|wlan|(?<!\bto )(?<!\b[iI] )\bword\b(?! (?:an?|this|that|it|the|my)\b)",
    re.IGNORECASE,
)
"""A text without any of these is taken to have no secrets: most messages have none, and cost microseconds."""
_LONG: Final = re.compile(r"\S{16}")
_REST: Final = re.compile(r"[\w-]*")
_WORD: Final = re.compile(r"(?<![\w-])[^\W\d_]{2,}(?![\w-])")
"""The network reads what is said of a value: a bare number says nothing."""
_CLAUSE: Final = re.compile(r"[.,;!?](?=\s|$)|\n|\s(?:and|but|so|because|for|please)\b", re.IGNORECASE)
_TOKEN: Final = re.compile(r"\S+")
_WORDS_MASKED: Final = 12
"""Maximum words of a passphrase: as many as recovery phrases have."""


def sensitive(text: str, *, is_own: bool = False) -> str | None:
    """The kind of secret that `text` contains, such as “a card number”; None: no known kind. Linear in its length.

    `is_own`: the user wrote it, in these words; else shapes are enough, and the network doesn't read it.
    """
    found = (find_secrets if is_own else shaped_secrets)(text)
    return found[0][0] if found else None


def mask_secrets(text: str, known: Collection[str] = (), *, is_own: bool = True) -> str:
    """The text with its secrets replaced, and those of `known`, such as a password that an answer repeats.

    `is_own`: the user wrote it, and it isn't masked yet.
    """
    for value in sorted((value for value in known if value in text), key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", MASK, text)
    parts, at = [], 0
    for start, end in merge_spans(span for _, span in (find_secrets if is_own else shaped_secrets)(text)):
        parts += [text[at:start], MASK]
        at = end
    return "".join(parts) + text[at:]


def mask_name(name: str) -> str:
    """The name of a file without its secrets; its ending stays. The network reads sentences, and names are none."""
    said = name.replace("_", " ")
    masked, ending = mask_secrets(said, is_own=False), PurePosixPath(name).suffix
    return name if masked == said else masked.removesuffix(ending) + ending


def secret_values(text: str, *, is_own: bool = True) -> frozenset[str]:
    """The secrets in a text that are long enough to be recognized in the answer to it. `is_own`: as above."""
    found = (find_secrets if is_own else shaped_secrets)(text)
    values = (text[start:end].strip() for start, end in merge_spans(span for _, span in found))
    return frozenset(value for value in values if len(value) >= MIN_LENGTH)


def lasting(values: Iterable[str]) -> frozenset[str]:
    """Those that are also recognized in later turns."""
    return frozenset(value for value in values if len(value) >= PIN_DIGITS or not value.isdigit())


@remembered(CACHED)
def find_secrets(text: str) -> tuple[tuple[str, Span], ...]:
    """The kind and place of each secret in a text of the user, the most certain kind first; places may overlap."""
    text = _latin(text)
    if len(text) > WINDOW or not _WORD.search(text):
        return shaped_secrets(text)
    if not _MAY_HOLD.search(text):
        return ()
    from memory.secrets.learned import MASKED, learned_secrets

    read = text.replace(MASK, MASKED)
    found = [*_findings(text, _SAID_OUT), *((KEY, span) for span in learned_secrets(read))]
    return tuple(one for one in found if _is_secret(text, one[1]))


@remembered(CACHED)
def shaped_secrets(text: str) -> tuple[tuple[str, Span], ...]:
    """The same of secrets that a word or their shape gives away, in any text."""
    text = _latin(text)
    if not _MAY_HOLD.search(text):
        return ()
    found = (
        (name, (start + offset, end + offset))
        for offset, window in _windows(text)
        for name, (start, end) in _findings(window, (*_SAID_OUT, *_TOLD))
    )
    return tuple(one for one in found if _is_secret(text, one[1]))


def _latin(text: str) -> str:
    """The text, as long, with Latin letters in place of those that only look like them in a word, or are wider."""
    if text.isascii():
        return text
    return _MIXED.sub(lambda word: word[0].translate(_LOOKALIKES), text.translate(_FULL_WIDTH))


def _is_secret(text: str, span: Span) -> bool:
    return text[slice(*span)].strip(" \"'.,") != MASK


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, without overlaps."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _windows(text: str) -> Iterator[tuple[int, str]]:
    for start in range(0, max(1, len(text) - OVERLAP), WINDOW - OVERLAP):
        yield start, text[start : start + WINDOW]


def _findings(text: str, named: Iterable[tuple[str, re.Pattern[str]]]) -> Iterator[tuple[str, Span]]:
    plain = text if text.isascii() else text.translate(_PLAIN)
    for name, pattern in _SHAPED:
        for found in pattern.finditer(plain):
            yield name, (found.start(), _end_of_key(text, found))
    for name, pattern in named:
        for found in pattern.finditer(text):
            place = found.start("value"), _end_of_value(text, found)
            if not is_something_else(text, *place):
                yield name, place
    for name, module, pattern in _CHECKED if _DIGIT.search(text) else ():  # every one of them contains a digit
        yield from ((name, found.span()) for found in pattern.finditer(plain) if _passes(module)(found[0]))
    yield from ((KEY, found.span()) for found in _RANDOM.finditer(text) if _looks_random(found[0]))
    for detector in _detectors() if _LONG.search(text) else ():
        for value in filter(None, detector.analyze_string(text)):
            start = text.find(value)
            rest = _REST.match(text, start + len(value))  # of some keys a detector gives the start only: “glpat”
            yield KEY, (start, rest.end()) if start >= 0 and rest else (0, len(text))


def _end_of_value(text: str, found: re.Match[str]) -> int:
    """The end of a named secret: its word if that has a digit or a sign, else the clause, as for a passphrase."""
    start = found.start("value")
    clause = _CLAUSE.search(text, start + 1)
    end = len(text) if clause is None else clause.start()
    if found.end("value") - start > 1:
        return found.end("value") - (len(found["value"]) - len(found["value"].rstrip(".,;!?)\"'”’")))
    words = list(_TOKEN.finditer(text, start, end))[:_WORDS_MASKED]
    if not words:
        return found.end("value")
    return words[0].end() if not words[0][0].strip("\"'“”‘’").isalpha() else words[-1].end()


def _end_of_key(text: str, found: re.Match[str]) -> int:
    """The end of a key with a known shape: after a private key's last line, or any other key's word."""
    if found[0].startswith("-----BEGIN"):
        end = text.find("-----END", found.end())
        return len(text) if end < 0 else len(text[:end]) + len(text[end:].partition("\n")[0])
    word = _TOKEN.match(text, found.end())
    return word.end() if word and found[0][-1:] != " " and "_authToken" in found[0] else found.end()


@cache
def _detectors() -> tuple[RegexBasedDetector, ...]:
    """Built on first use: loading them takes a quarter of a second and 20 MB, which no web process needs."""
    names = (path.split(".") for path in _DETECTORS)
    return tuple(getattr(import_module(f"detect_secrets.plugins.{module}"), name)() for module, name in names)


@cache
def _passes(module: str) -> Callable[[str], bool]:
    """Whether a number's digits match its check digits, by the rules of that country."""
    valid: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    if module == "luhn":  # it can't handle separators, and accepts one repeated digit
        return lambda number: len(set(_digits(number))) > 1 and valid(_digits(number))
    return valid


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)


def _looks_random(word: str) -> bool:
    """Whether it is long, with capitals, lower case and digits in one word: a token, not a name."""
    return any(c.isupper() for c in word) and any(c.islower() for c in word) and sum(c.isdigit() for c in word) >= 3
