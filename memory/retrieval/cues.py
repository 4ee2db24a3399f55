"""Cues of questions, one table a language: words that ask when, for the latest state or about the past, that refer to
the turns before or name a date, and words that say nothing.

`cues_for` chooses the table: of the languages a user writes in, the one whose empty words the question has most of. A
language without a table is read with the English one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from memory.text.language import as_set


@dataclass(frozen=True, slots=True)
class Cues:
    """The cues of one language."""

    language: str
    """As in `accounts/languages.py`."""
    asks_for_latest: re.Pattern[str]
    """Words that ask for the latest state."""
    asks_past: re.Pattern[str]
    """Words that ask about the past: then what has been replaced or has ended is recalled, too, and says so."""
    asks_when: re.Pattern[str]
    """How a question for a time starts."""
    time_words: frozenset[str]
    """A passage with one of these words, a year, or a day of the month (“the 3rd”) may answer such a question. A set:
    for two hundred candidates, a pattern took as long as the rest of the ranking."""
    follows_up: re.Pattern[str]
    """A question with such a word may refer to something named before it."""
    empty_words: frozenset[str]
    """Words that name nothing."""
    openers: frozenset[str]
    """Words that are capitalized only because a statement starts with them."""
    month_numbers: Mapping[str, int]
    named_date: re.Pattern[str]
    """Groups: `before` or `after` (the day), `month`, `year`."""
    also_words: frozenset[str]
    """Names of months that are words, too: months only after `before_month`, or with a day or year."""
    before_month: re.Pattern[str]
    ago: re.Pattern[str]
    """Groups: `count`, `unit`."""
    counts: Mapping[str, int]
    last: re.Pattern[str]
    """Groups: `unit`, or `yesterday`."""
    unit_days: Mapping[str, int]
    """Starts of units of time, with their days."""
    third_person: Sequence[tuple[re.Pattern[str], str]] = ()
    """Replacements that put a question in the third person, as facts are, before it is embedded. Only English has any:
    in the others, 10 of 48 development questions have an answer as the nearest memory with them, 17 without."""
    drops_empty_words: bool = True
    """Whether full-text search leaves out the empty words. PostgreSQL's English list of stop words has what questions
    are made of; the others lack “wann”, “cuánto” and “comment”."""


def cues_for(text: str, languages: Sequence[str]) -> Cues:
    """The cues of the question's language, of those that its user writes in."""
    tables = list(dict.fromkeys(CUES.get(language, ENGLISH).language for language in languages)) or [ENGLISH.language]
    if len(tables) == 1:
        return CUES[tables[0]]
    said = _WORD.findall(text.lower())
    return CUES[max(tables, key=lambda language: sum(word in CUES[language].empty_words for word in said))]


_WORD: Final = re.compile(r"[^\W\d_]+")


def _any(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _numbers(names: str) -> dict[str, int]:
    return {name: n for n, name in enumerate(names.split(), 1)}


def _either(names: Mapping[str, int]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


# English ---------------------------------------------------------------------------------------------------------

_MONTHS: Final = _numbers("january february march april may june july august september october november december")
_MONTH_NUMBERS: Final = _MONTHS | {name[:3]: n for name, n in _MONTHS.items()} | {"sept": 9}
_COUNTS: Final = {"a": 1, "an": 1} | _numbers("one two three four five six seven eight nine ten")

ENGLISH: Final = Cues(
    language="english",
    asks_for_latest=_any(
        r"\b(now(adays)?|current(ly)?|latest|newest|today|these days|at the moment|recent(ly)?|still|any ?more)\b"
    ),
    asks_past=_any(
        r"\b(used to|before|former(ly)?|previous(ly)?|earlier|back then|in the past|once|originally|at first|history"
        r"|over the years|until|(my|our|the) old|ever|was|were|had|what('s| has)? (happened|become|became)"
        r"|((?<=so )|(?<=and )|(?<![a-z] ))(do|am|are) (i|we) still"  # not “which tablets do I still take?”
        r"|did(?! (i|we) (just |ever )?(say|tell|mention|ask|call|name|decide|choose|pick|agree|settle|plan)\b))\b"
    ),
    asks_when=_any(
        r"^\W*(when|what (date|day|month|year|time)|how long)\b|\bwhen (did|was|is|were|do|does|has|have|will)\b"
    ),
    time_words=as_set("""
        yesterday today tonight tomorrow morning last next ago recently just soon week weekend month year monday
        tuesday wednesday thursday friday saturday sunday january february march april june july august
        september october november december
    """),
    follows_up=_any(
        r"^\W*(and|but|so|what about|how about|why|really)\b"
        r"|\b(s?he|him|her|hers|his|they|them|their|it|its|that|those|this|these|there|then|one)\b"
    ),
    empty_words=as_set("""
        about also and any are because been but can could did does doing don don't for from get going had has
        have her hers him his how into its just know let like made make many may more much not now off one only
        our out over really she should some than that that's the their them then there these they thing things
        think this those too very want was way well were what when where which who why will with would yes you
        your
    """),
    openers=as_set("the a an i in on at every when if his her their my"),
    month_numbers=_MONTH_NUMBERS,
    named_date=_any(
        rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<month>{_either(_MONTH_NUMBERS)})\b\.?"
        r"(?:,? (?P<after>\d{1,2})(?:st|nd|rd|th)?\b(?!\d))?(?:,? ?(?:of )?(?P<year>\d{4}))?"
    ),
    also_words=as_set("may march mar dec sep"),
    before_month=_any(r"\b(in|of|during|last|this|since|until|early|late|mid)[ -]$"),
    ago=_any(
        r"\b(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten) (?P<unit>day|week|month|year)s?"
        r" ago\b"
    ),
    counts=_COUNTS,
    last=_any(r"\blast (?P<unit>week|month|year|night)\b|\b(?P<yesterday>yesterday)\b"),
    unit_days={"day": 1, "night": 1, "week": 7, "month": 30, "year": 365},
    third_person=tuple(
        (_any(rf"\b(?:{pattern})\b"), said)
        for pattern, said in (
            (r"my|mine|our|ours", "the user's"),
            (r"am i|are we", "is the user"),
            (r"i am|i[’']m|we are|we[’']re", "the user is"),
            (r"i[’']ve|we[’']ve", "the user has"),
            (r"i|me|we|us|myself", "the user"),
        )
    ),
    drops_empty_words=False,
)

# German ----------------------------------------------------------------------------------------------------------

_GERMAN_MONTHS: Final = _numbers(
    "januar februar märz april mai juni juli august september oktober november dezember"
) | {
    "jänner": 1,
    "feber": 2,
    "maerz": 3,
}
_GERMAN_COUNTS: Final = {"einem": 1, "einer": 1, "nem": 1, "ner": 1} | _numbers(
    "ein zwei drei vier fünf sechs sieben acht neun zehn"
)
_GERMAN_EMPTY: Final = as_set("""
    aber alle allem allen aller alles als also am an auch auf aus bei beim bin bis bist bitte da damit dann das
    dass dazu dein deine deinem deinen deiner dem den denn der des dich die dies diese diesem diesen dieser
    dieses dir doch du eben eigentlich ein eine einem einen einer eines er es etwas euch für gab ganz geht
    gerade gern gibt hab habe haben halt hast hat hatte hatten heißt ich ihm ihn ihnen ihr ihre ihrem ihren
    ihrer im in inzwischen ins ist ja je jetzt kann kannst kein keine keinem keinen keiner könnte könnten mal
    man mehr mein meine meinem meinen meiner mich mir mit möchte muss nach nicht noch nochmal nun nur ob oder
    ohne sag sagen schon sehr sein seine seinem seinen seiner seit selbst sich sie sind so sollte und uns unser
    unsere unserem unseren unserer vom von vor wann war waren warum was weg wegen weil weißt welche welchem
    welchen welcher welches wem wen wenn wer werde werden weshalb wessen wie wieder wieso wieviel will wir wird
    wo wobei wofür woher wohin womit worum wozu wurde wurden würde würdest zu zum zur über
""")

GERMAN: Final = Cues(
    language="german",
    asks_for_latest=_any(
        r"\b(jetzt|heut(e|zutage)|derzeit|zurzeit|zur zeit|momentan|im moment|gerade|aktuell(e[nmrs]?)?|gegenwärtig"
        r"|neu(e|st)e[nmrs]?|neulich|kürzlich|zuletzt|inzwischen|mittlerweile|noch|nicht mehr)\b"
    ),
    asks_past=_any(
        r"\b(früher(e[nmrs]?)?|damals|vorher|davor|bevor|zuvor|einst|ehemalige?[nmrs]?|ursprünglich|anfangs|zuerst"
        r"|in der vergangenheit|im lauf der jahre|bis wann|jemals|(mein|unser)e? alte[nmrs]?|alten?"
        r"|war(en|st)?|hatten?|wurden?|gab|hieß(en)?|(wohn|arbeit|leb|spiel|studier|mach|kost)(e?te)n?"
        r"|(bin|sind|hab|habe|haben|wohn|wohne|arbeite) (ich|wir) (\w+ )?noch"
        r"|(hab|habe|haben|hat) (?!(ich|wir)\b[^.?!]{0,60}"
        r"\b(gesagt|erzählt|erwähnt|gefragt|genannt|entschieden|geplant)\b)"
        r"[^.?!]{0,80}\b(ge\w{2,}(t|en)|\w+iert|be\w{3,}(t|en)|ver\w{3,}(t|en)))\b"
    ),
    asks_when=_any(
        r"\bwann\b|\bwie lange\b|\bwie ?viel uhr\b|\bwie spät\b"
        r"|\b(welche[nmrs]?|wievielte[nmrs]?) (tag|datum|monat|jahr|woche|uhrzeit)\b"
    ),
    time_words=as_set("""
        gestern vorgestern heute morgen übermorgen abend nacht mittag vormittag nachmittag früh letzte letzten
        letztes nächste nächsten nächstes vor kürzlich neulich bald woche wochen wochenende monat monate jahr
        jahre jahren uhr montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag montags dienstags
        mittwochs donnerstags freitags samstags sonntags januar jänner februar märz april mai juni juli august
        september oktober november dezember
    """),
    follows_up=_any(
        r"^\W*(und|aber|also|was ist mit|wie ist es mit|wie wär['’]?s mit|warum|wieso|weshalb|echt|wirklich)\b"
        r"|\b(er|ihn|ihm|deren|dessen|denen|diese[nmrs]?|jene[nmrs]?|dort|damit|davon|dazu|daran|darüber|dafür)\b"
        r"|(?-i:\b(sie|ihnen|ihre?[nmrs]?|seine?[nmrs]?)\b)"
    ),
    empty_words=_GERMAN_EMPTY,
    openers=_GERMAN_EMPTY,
    month_numbers=_GERMAN_MONTHS,
    named_date=_any(
        rf"\b(?:(?P<before>\d{{1,2}})\. ?)?(?P<month>{_either(_GERMAN_MONTHS)})s?\b(?P<after>)(?:,? (?P<year>\d{{4}}))?"
    ),
    also_words=frozenset(),
    before_month=_any(r"$^"),
    ago=_any(rf"\bvor (?P<count>\d{{1,3}}|{_either(_GERMAN_COUNTS)}) (?P<unit>tag|woche|monat|jahr)(?:e[ns]?|en|n)?\b"),
    counts=_GERMAN_COUNTS,
    last=_any(
        r"\b(?:letzte|vorige|vergangene)[nsr]? (?P<unit>woche|monat|jahr|nacht)(?:e?s)?\b|\b(?P<yesterday>gestern)\b"
    ),
    unit_days={"tag": 1, "nacht": 1, "woche": 7, "monat": 30, "jahr": 365},
)

# Spanish ---------------------------------------------------------------------------------------------------------

_SPANISH_MONTHS: Final = _numbers(
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
) | {"setiembre": 9}
_SPANISH_COUNTS: Final = {"una": 1} | _numbers("un dos tres cuatro cinco seis siete ocho nueve diez")
_SPANISH_EMPTY: Final = as_set("""
    a ahora ahí al algo alguien algún alguna algunas alguno algunos allí ante aquel aquella aquí así aunque aún
    bien cada como con cosa cosas cuál cual cuáles cuales cuándo cuando cuánta cuantas cuánto cuanto cuántos
    cuantos cuántas cómo da dar de decir del desde digo dime donde dónde adónde adonde dos e el él ella ellas
    ellos en entonces era eran eres es esa esas ese eso esos esta está están estaba estar estas este esto estos
    estoy fue fueron ha haber había hace hacer hago han has hasta hay he hemos hizo iba ir la las le les lo los
    más me mi mí mis misma mismo mucho muy nada ni no nos nosotros nuestra nuestras nuestro nuestros o os otra
    otras otro otros para pero poco por porque puede puedo pues qué que quién quien quiénes quiere quiero sabes
    sabés se sea ser si sí sido sin sobre solo son soy su sus también tan te tengo tenemos tenía tiene ti todo
    todos tu tú tus tuve u un una unas uno unos va voy vos vez y ya yo
""")

SPANISH: Final = Cues(
    language="spanish",
    asks_for_latest=_any(
        r"\b(ahora( mismo)?|actual(es|mente)?|hoy( en d[ií]a)?|en este momento|estos d[ií]as|últim[oa]s?"
        r"|reciente(s|mente)?|más nuev[oa]s?|todavía|aún|ya no|sigo|sigue|seguimos)\b"
    ),
    asks_past=_any(
        r"\b(antes|antigu[oa]s?|anterior(es|mente)?|previ[oa]s?|en el pasado|original(mente)?|al principio|alguna vez"
        r"|historial|hasta cuándo|mi vieja|mi viejo|todavía|aún|fui|fue|fueron|fuimos|hubo"
        r"|sol(ía|ías|íamos|ían)|(viv|ten|hac|sol|pod|quer|deb|ped|pon|com)(ía|íamos|ían)"
        r"|era|éramos|eran|había|habían|iba|íbamos|(trabaj|est|llam|gust|estudi|jug|habl|us|cost|pag)(aba|ábamos|aban)"
        r"|qué (pasó|fue de))\b"
    ),
    asks_when=_any(
        r"\bcuándo\b|^\W*(y )?(desde |hasta |para )?cuando\b"
        r"|\b(qué|que|cuál|cual) (es la |es el )?(día|fecha|mes|año|hora)\b"
        r"|\bcuánto tiempo\b|^\W*cuanto tiempo\b"
    ),
    time_words=as_set("""
        ayer anteayer anoche hoy mañana tarde noche pasado pasada próximo próxima hace recientemente pronto
        semana semanas finde mes meses año años lunes martes miércoles jueves viernes sábado domingo enero
        febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
    """),
    follows_up=_any(
        r"^\W*(y|pero|entonces|qué tal|por qué|y eso|de verdad|en serio)\b"
        r"|\b(él|ella|ellas|ellos|ello|su|sus|suy[oa]s?|les?|es[ao]s?|ese|esos|est[ao]s?|este|estos|aquell[ao]s?|aquel"
        r"|allí|allá|ahí)\b"
    ),
    empty_words=_SPANISH_EMPTY,
    openers=_SPANISH_EMPTY,
    month_numbers=_SPANISH_MONTHS,
    named_date=_any(
        rf"\b(?:(?P<before>\d{{1,2}})(?:º|o|ero)? de )?(?P<month>{_either(_SPANISH_MONTHS)})\b(?P<after>)"
        r"(?:,? (?:del? )?(?P<year>\d{4}))?"
    ),
    also_words=frozenset(),
    before_month=_any(r"$^"),
    ago=_any(rf"\bhace (?P<count>\d{{1,3}}|{_either(_SPANISH_COUNTS)}) (?P<unit>día|semana|mes|año)(?:e?s)?\b"),
    counts=_SPANISH_COUNTS,
    last=_any(r"\b(?:la|el) (?P<unit>semana|mes|año|noche) pasad[oa]\b|\b(?P<yesterday>ayer|anoche)\b"),
    unit_days={"día": 1, "noche": 1, "semana": 7, "mes": 30, "año": 365},
)

# French ----------------------------------------------------------------------------------------------------------

_FRENCH_MONTHS: Final = _numbers(
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
) | {
    "fevrier": 2,
    "aout": 8,
    "decembre": 12,
}
_FRENCH_COUNTS: Final = {"une": 1} | _numbers("un deux trois quatre cinq six sept huit neuf dix")
_FRENCH_EMPTY: Final = as_set("""
    a ai aie alors as au aucun aucune aussi autre autres aux avait avec avez avoir avons bien c ça car ce ceci
    cela celle celles celui ces cet cette ceux chaque chez chose choses ci combien comme comment d dans de déjà
    des dire dis dit dois doit donc dont du elle elles en encore es est et était étais été êtes être eu eux fait
    faire fais faut fois il ils j je l la là le les leur leurs lui m ma mais me même mes mieux moi mon n ne nos
    notre nous nôtre on ont ou où par parce pas pendant peu peut peux plus plutôt pour pourquoi près puis qu
    quand que quel quelle quelles quelque quelques quels qui quoi rien s sa sais sait sans se sera ses si son
    sont suis sur t ta te tes toi ton tous tout toute toutes très tu un une va vais veut veux vers voici voilà
    vos votre vous y
""")

FRENCH: Final = Cues(
    language="french",
    asks_for_latest=_any(
        r"\b(maintenant|désormais|actuel(le)?(s|ment)?|aujourd['’]hui|en ce moment|ces (jours|temps)-ci|récent(e|es|s)?"
        r"|récemment|dernièrement|dernières nouvelles|encore|toujours)\b"
    ),
    asks_past=_any(
        r"\b(avant|autrefois|jadis|anciens?|ancienne?s?|auparavant|précédent(e|es|s)?|précédemment|à l['’]origine"
        r"|au début|dans le passé|historique|jusqu['’]à quand|déjà|ét(ais|ait|ions|aient)|av(ais|ait|ions|aient)"
        r"|(habit|travaill|jou|étudi|appel|viv|fais|aim|gagn|pay|utilis)(ais|ait|ions|aient)"
        r"|(suis|habite|travaille|ai|vis)[- ]je encore|(je suis|je vis|j['’]ai|j['’]habite|je travaille) encore"
        r"|qu['’]est (devenue?s?)|(?<=est )devenue?s?)\b"
    ),
    asks_when=_any(
        r"^\W*(et )?((depuis|jusqu['’]à|pour) )?quand\b|\bquand (est[- ]ce|ai|as|a|est|sont|va|vais|était|dois|doit)\b"
        r"|\b(c['’]est|depuis|jusqu['’]à) quand\b|\bquand\W*$"
        r"|\bquel(le)? (est la |est le )?(jour|date|mois|année|heure|soir)\b"
        r"|\bcombien de temps\b"
    ),
    time_words=as_set("""
        hier aujourd hui demain matin soir nuit midi dernier dernière prochain prochaine récemment bientôt
        semaine semaines week mois an ans année années heure heures lundi mardi mercredi jeudi vendredi samedi
        dimanche janvier février mars avril mai juin juillet août septembre octobre novembre décembre
    """),
    follows_up=_any(
        r"^\W*(et|mais|alors|donc|qu['’]en est-il|pourquoi|vraiment|ah bon)\b"
        r"|\b(ils?|elles?|lui|leurs?|son|sa|ses|cet|cette|ces|ça|cela|celui|celles?|ceux|là-bas)\b"
    ),
    empty_words=_FRENCH_EMPTY,
    openers=_FRENCH_EMPTY,
    month_numbers=_FRENCH_MONTHS,
    named_date=_any(
        rf"\b(?:(?P<before>\d{{1,2}})(?:er)? )?(?P<month>{_either(_FRENCH_MONTHS)})\b(?P<after>)(?: (?P<year>\d{{4}}))?"
    ),
    also_words=as_set("mars"),
    before_month=_any(r"\b(en|fin|début|mi|depuis|dès|courant)[ -]$"),
    ago=_any(rf"\bil y a (?P<count>\d{{1,3}}|{_either(_FRENCH_COUNTS)}) (?P<unit>jour|semaine|mois|année|an)s?\b"),
    counts=_FRENCH_COUNTS,
    last=_any(r"\b(?:la |le |l['’])(?P<unit>semaine|mois|année|an|nuit) derni(?:er|ère)\b|\b(?P<yesterday>hier)\b"),
    unit_days={"jour": 1, "nuit": 1, "semaine": 7, "mois": 30, "année": 365, "an": 365},
)

CUES: Final[Mapping[str, Cues]] = {one.language: one for one in (ENGLISH, GERMAN, SPANISH, FRENCH)}
