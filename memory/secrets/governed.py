"""What a value is by its grammar: where its own noun is “meter” or “order”, or a unit follows, it is no secret.

A word that names a secret elsewhere in the sentence doesn't change that: “the code for the safe, branch 0049”.
"""

import re
from typing import Final

NAMES_SECRET: Final = re.compile(
    r"pass(?:[wck]|ph|\b)|pasw|(?<![a-z])p/?w\b|\bpwd|\bpsk\b|log(?:ged|s)? ?-?in\b|logon|sign ?-?in\b|wi-?fi|wlan"
    r"|router|hotspot|\bnetwork\b|\binternet\b|\bpins?\b|c[oó]d(?:e|igo)|combin|phrase|seed (?:words?|is)|token"
    r"|credential|(?<![bcf])lock(?!ers?\b)"
    r"|\bsecret (?:word|phrase|key|question|answer)|\bsafe\b|alarm|user ?name|account|\banswer (?:to|no)|\bword\b|clave"
    r"|contrase|mot de passe|kennwort|senha|admin|vault|recovery|backup|\bopens? with\b|\btype\b",
    re.IGNORECASE,
)
"""Words that name a secret or what it opens. Of 115 secrets by an author that the network didn't know, sixteen are
ordinary words, and most of those have one in their message."""
_NAMED: Final = re.compile(
    rf"(?:{NAMES_SECRET.pattern})\w*[\s,]{{0,3}}"
    r"(?:\b(?:is|was|it's|as|now|still|always|to|the)\b[\s,]{0,3}|[:=]\s?){0,3}[\"'“(*]{0,3}$",
    re.IGNORECASE,
)
_MONTH: Final = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_ORDINARY: Final = (
    r"(?:(?:exam|paper|error|discount|promo|voucher|zip|post(?:al)?|area|country|tax|qr|bar|product|item|source|course"
    r"|airport)[ -]?code|postcode|plz|meter|reading|odometer|mileage|amount|price|total|salary|rent|take[ -]home"
    r"|income|wage|savings|budget|deposit|fee|size|order|pedido|invoice|rechnung|facture"
    r"|bestellung|parcel|tracking|ticket|customer|student|membership|contract|centre|plate"
    r"|branch|seat|extension|(?:room|house|phone) number|flight|train|bus|tram|model|version|page|isbn|error"
    r"|\w{0,12}fehler|article|pressure|blutdruck|pulse|weight|height|temperature)(?:e?s)?"
)
"""What a number is called that is no secret."""
_LINK: Final = (
    r"(?:\b(?:for|with|at) (?:my|our|the) (?:(?!pin|pass|code|key|lock|safe|alarm)[a-z]{2,12}[\s:]){1,2}|[\s:=#(]"
    r"|(?-i:\b(?:for|of) [A-Z]\w{1,20}\b)|\bn[or]\.|\b(?:is|are|was|now|today|yesterday|on|at|of|the|no|nr"
    rf"|number|nummer|says|shows|reads|ist|est|es|for|{_MONTH})\b|\b\d{{1,2}}(?:st|nd|rd|th)?(?=[\s:])"
    rf"|\b\d[\d.]*,\s(?={_MONTH}\s)|(?-i:\b[A-Z]{{1,2}}\s))"
)
_NAMED_BEFORE: Final = re.compile(rf"\b{_ORDINARY}\b{_LINK}{{1,20}}+$", re.IGNORECASE)
"""“order number is 4471”, “readings jan 1: 40213, feb 1: 40655”: nothing but such words between noun and value."""
_OF_SECRET: Final = re.compile(
    rf"(?:{NAMES_SECRET.pattern})\w*\s(?:of|for|to|at|on|in|from|with)\s(?:\w{{1,20}}\s){{0,2}}$", re.IGNORECASE
)
"""“The PIN of my order is 4471” gives the PIN."""
_NAMED_AFTER: Final = re.compile(rf"\s(?:is|was) (?:my|our|the) (?:\w+ )?{_ORDINARY}\b", re.IGNORECASE)
_CALLED: Final = re.compile(r"(?i)\b(?:wi-?fi|network|hotspot|router)(?: is|['’]s)? (?:called|named) [\"'“(]?$")
"""Before the name of a network, which everyone near sees."""
_REACH: Final = 80
"""Characters before a value that are searched for its noun."""
_REFERENCE: Final = re.compile(r"(?=[^\d]*\d)(?!\d{1,2}(?:-\d{1,2}){2,}$)[A-Z\d][A-Z\d ./:-]*")
"""How numbers with a name are written: neither a password nor numbers to dial, “4-4-7-1”."""
_AMOUNT: Final = re.compile(r"[€$£]?\d[\d.,]*%?")
_GROUPED: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_UNIT: Final = re.compile(
    r"\s?(?:[%€$£]|k\b|euros?\b|eur\b|usd\b|dollars?\b|pounds?\b|quid\b|yen\b|z[lł]oty\b|pln\b|chf\b"
    r"|kron\w{1,3}\b|kr\b|francs?\b|rupees?\b|pesos?\b|rand\b|lira\b|yuan\b|km\b|miles?\b|[ckm]?m\b"
    r"|k?g\b|kwh\b|(?:million|people)\b|(?:[a-z]{3,9} )?(?:a|per) (?:month|week|year|day)\b)",
    re.IGNORECASE,
)
_LABEL, _LIST = re.compile(r"\w+: $"), re.compile(r"[^\W\d_]+(?:, [^\W\d_]+)+")
"""“allergies: latex, kiwi”."""
_OWED: Final = re.compile(
    r"(?i)\b(?:ow(?:e|es|ed)|pa(?:y|ys|id)|costs?|spen[dt]|earns?|earned|charged?|saved?|lent|borrowed|worth)"
    r" (?:(?:me|us|him|her|them|about|around|over|nearly|another|only|just) )*$"
)
"""Before an amount without a unit: “i owe 2300 to the bank”."""
_DATED: Final = re.compile(rf"\b(?:since|until|in|from|{_MONTH})\s$", re.IGNORECASE)
_DAY_OR_TIME: Final = re.compile(r"\d{1,2}(?:st|nd|rd|th)|(?:[01]?\d|2[0-3])[.:h][0-5]\d", re.IGNORECASE)
_NO_KEY: Final = re.compile(
    r"(?:in|under|on|behind|inside|beside|next to|by|above|below) [a-z].*"
    r"|(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?(?:,? and )?)+",
    re.IGNORECASE,
)
"""Where a key lies that opens a door, or when: “window lock key in blue jug”."""
_WITH_SOMEONE: Final = re.compile(r"(?i)\bkeys? (?:is|are|['’]s) with $")
"""Before who has a key: “spare key is with Abena”."""
_YEAR: Final = re.compile(r"(?:19|20)\d\d")


def is_something_else(text: str, start: int, end: int) -> bool:
    """Whether the value there is an amount, a day, a place, or a number whose own noun names no secret."""
    value = text[start:end]
    if _DAY_OR_TIME.fullmatch(value) or (_NO_KEY.fullmatch(value) and not is_named_secret(text, start)):
        return True
    if (amount := _AMOUNT.match(value)) and _is_amount(text, start, start + amount.end(), whole=amount[0] == value):
        return True
    before = text[max(0, start - _REACH) : start]
    if _LIST.fullmatch(value) and (label := _LABEL.search(before)) and not NAMES_SECRET.search(label[0]):
        return True
    if (_CALLED.search(before) and " " not in value) or (_WITH_SOMEONE.search(before) and value.isalpha()):
        return True
    if _REFERENCE.fullmatch(value) is None:
        return False
    dated = _YEAR.fullmatch(value) and _DATED.search(before)
    named = _NAMED_BEFORE.search(before)
    if named and _OF_SECRET.search(before[: named.start()]):
        return False
    return bool(dated or named or _NAMED_AFTER.match(text, end))


def _is_amount(text: str, start: int, end: int, *, whole: bool) -> bool:
    value = text[start:end]
    marked = value[0] in "€$£" or value[-1] == "%" or text[max(0, start - 1) : start] in {"€", "$", "£"}
    is_owed = whole and value.isdigit() and _OWED.search(text[max(0, start - _REACH) : start]) is not None
    return is_owed or bool(_UNIT.match(text, end)) or (whole and (marked or bool(_GROUPED.fullmatch(value))))


def is_named_secret(text: str, start: int) -> bool:
    """Whether the words before say that it is one: “the new password is blue horse”."""
    return bool(_NAMED.search(text[max(0, start - _REACH) : start]))
