"""Detects English by function words, the small words that no sentence of a language can do without.

The words of a sentence are looked up in a list for English and one for each neighbor; a word that both have says
nothing. It is English unless a neighbor has more hits, and at least two, or most letters are of another script. A
sentence without hits passes: the rules are English themselves, so that another language hardly matches them.
"""

import re
import unicodedata
from typing import Final


def as_set(words: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(words.split())


def alternatives(words: frozenset[str]) -> str:
    """The words as alternatives of a pattern, longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


ENGLISH: Final = as_set(
    "i i'm i've i'd my me we our us you your he she they it it's his her their its the a an and or but not no is am are"
    " was were be been have has had do does did don't can can't will would should of to in on at for from with by about"
    " as that this these those there here when where who what which how so too very just now because since if than then"
    " really also always never"
)
NEIGHBOURS: Final = {
    "German": as_set(
        "ich du er wir ihr der das den dem des und oder aber nicht kein keine ist bin sind hat habe haben ein eine"
        " einen einem einer mein meine meinen meiner mit für auf aus bei von vom zu zum zur auch sehr wohne heiße lebt"
    ),
    "French": as_set(
        "je j'ai j'aime tu il elle nous vous ils le la les l'un une un des du de et ou mais est suis sont mon ma mes"
        " ton ta ses dans avec pour pas sur au aux qui que c'est d'une habite s'appelle"
    ),
    "Spanish": as_set(
        "yo tú él ella nosotros el la los las un una unos y pero es soy está estoy son mi mis tu su sus en con para por"
        " que del al muy vivo vive tengo me llamo gusta hermana"
    ),
    "Portuguese": as_set(
        "eu tu ele ela nós o os as um uma e mas é sou está estou são meu minha meus minhas seu sua em no na nos nas com"
        " para por que do da dos das muito moro vivo vive tenho não irmã"
    ),
    "Italian": as_set(
        "io lui lei noi il lo la gli le un uno una e ma è sono sei mio mia miei suo sua con per che di del della dei"
        " non molto abito vivo vive ho mi chiamo piace sorella"
    ),
    "Dutch": as_set(
        "ik jij hij zij wij het een de en maar niet geen ben bent zijn mijn jouw met voor op van naar bij ook heel woon"
        " woont heb heet"
    ),
}
MIN_HITS: Final = 2
"""Different words; a single one may be a name: “call me Al”, “I love La La Land”."""
LATIN_SHARE: Final = 0.7
"""At least this share of a sentence's letters is Latin; names in another script may stand in it."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def is_english(sentence: str) -> bool:
    """Whether the rules may read `sentence`."""
    letters = [char for char in sentence if char.isalpha()]
    latin = sum(char.isascii() or unicodedata.name(char, "").startswith("LATIN") for char in letters)
    if not letters or latin < LATIN_SHARE * len(letters):
        return False
    words = set(_WORD.findall(sentence.casefold()))
    hits = ((len((words & theirs) - ENGLISH), len((words & ENGLISH) - theirs)) for theirs in NEIGHBOURS.values())
    return not any(foreign >= MIN_HITS and foreign > english for foreign, english in hits)
