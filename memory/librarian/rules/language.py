"""Detects English by function words, the small words that no sentence of a language can do without.

The sentence's words are looked up in a list for English and one for each neighbour; a word that both have says nothing.
It is English unless a neighbour has more hits, and at least two, or most of its letters are of another script. A
sentence without hits passes: the patterns are English themselves, so that another language hardly matches them.
"""

import re
import unicodedata


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words(
    "i i'm i've i'd my me we our us you your he she they it it's his her their its the a an and or but not no is am"
    " are was"
    " were be been have has had do does did don't can can't will would should of to in on at for from with by about as"
    " that this these those there here when where who what which how so too very just now because since if than then"
    " really also always never"
)
NEIGHBOURS: dict[str, frozenset[str]] = {
    "German": _words(
        "ich du er wir ihr der das den dem des und oder aber nicht kein keine ist bin sind hat habe haben ein eine"
        " einen"
        " einem einer mein meine meinen meiner mit für auf aus bei von vom zu zum zur auch sehr wohne heiße lebt"
    ),
    "French": _words(
        "je j'ai j'aime tu il elle nous vous ils le la les l'un une un des du de et ou mais est suis sont mon ma mes"
        " ton"
        " ta ses dans avec pour pas sur au aux qui que c'est d'une habite s'appelle"
    ),
    "Spanish": _words(
        "yo tú él ella nosotros el la los las un una unos y pero es soy está estoy son mi mis tu su sus en con para por"
        " que del al muy vivo vive tengo me llamo gusta hermana"
    ),
    "Portuguese": _words(
        "eu tu ele ela nós o os as um uma e mas é sou está estou são meu minha meus minhas seu sua em no na nos nas com"
        " para por que do da dos das muito moro vivo vive tenho não irmã"
    ),
    "Italian": _words(
        "io lui lei noi il lo la gli le un una uno e ma è sono sei mio mia miei suo sua con per che di del della dei"
        " non"
        " molto abito vivo vive ho mi chiamo piace sorella"
    ),
    "Dutch": _words(
        "ik jij hij zij wij het een de en maar niet geen ben bent zijn mijn jouw met voor op van naar bij ook heel"
        " woon woont heb heet"
    ),
}

MIN_HITS = 2
"""Different words; a single one may be a name: “call me Al”, “I love La La Land”."""
LATIN_SHARE = 0.7
"""At least this share of a sentence's letters is Latin; names in another script may stand in it."""

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def is_english(sentence: str) -> bool:
    """Whether the rules may read `sentence`."""
    letters = [char for char in sentence if char.isalpha()]
    if not letters or sum(_is_latin(char) for char in letters) < LATIN_SHARE * len(letters):
        return False
    words = set(_WORD.findall(sentence.casefold()))
    return not any(_reads_better(words, theirs, ours) for theirs, ours in _APART)


_APART = tuple((theirs - ENGLISH, ENGLISH - theirs) for theirs in NEIGHBOURS.values())
"""For each neighbour: the words that only it has, and those that only English has."""


def _reads_better(words: set[str], theirs: frozenset[str], ours: frozenset[str]) -> bool:
    hits = len(words & theirs)
    return hits >= MIN_HITS and hits > len(words & ours)


def _is_latin(char: str) -> bool:
    return char.isascii() or unicodedata.name(char, "").startswith("LATIN")
