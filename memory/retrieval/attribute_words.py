"""How German, Spanish and French ask for an attribute of someone: words for each, one table a language.

English questions are read by a classifier (`asked_attribute.py`), whose model reads other languages less well.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_WORD: Final = re.compile(r"[\w-]+")  # “belle-mère” isn't “mère”


@dataclass(frozen=True)
class AttributeWords:
    """The words of one language."""

    asks: Mapping[str, str]
    """One of `asked_attribute.py: ASKS_FOR` → what a question for it says. The first that matches is meant."""
    first_person: str
    """Pattern of “I”, “me” and “we”, and of verbs that need no pronoun."""
    possessive: str
    """Pattern of “my” and “our”."""
    relations: Mapping[str, str]
    """Names of relatives and animals, with the English ones that keys have."""

    @cached_property
    def of_someone(self) -> re.Pattern[str]:
        """“My sister”, which asks about the sister."""
        return _any(rf"\b(?:{self.possessive})\s+(?:\w+\s+)?(?:{'|'.join(self.relations)})\b")

    @cached_property
    def of_user(self) -> re.Pattern[str]:
        """“I”, or “my profession”; “my landlady” is someone else, whatever she is called."""
        return _any(
            rf"\b(?:{self.first_person}|(?:{self.possessive})\s+(?:\w+\s+)?(?:{'|'.join(self.asks.values())}))\b"
        )

    @cached_property
    def _patterns(self) -> Mapping[str, re.Pattern[str]]:
        return {label: _any(rf"\b(?:{said})\b") for label, said in self.asks.items()}

    def asked(self, question: str) -> str:
        """What the question asks for; empty if no attribute."""
        return next((label for label, pattern in self._patterns.items() if pattern.search(question)), "")

    def relations_in(self, question: str) -> frozenset[str]:
        """The relations that the question names, in English."""
        return frozenset(self.relations[word] for word in _WORD.findall(question.lower()) if word in self.relations)


def _any(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _by_word(names: Mapping[str, str]) -> dict[str, str]:
    return {word: english for english, words in names.items() for word in words.split()}


WORDS: Final[Mapping[str, AttributeWords]] = {
    "german": AttributeWords(
        asks={
            "address": r"adresse|anschrift|hausnummer|(welche|was für eine)[rn]? straße",
            "origin": r"woher|herkunft|heimat\w*|geburtsort|wo \w+ (\w+ )?(geboren|aufgewachsen)",
            "home": r"wohne?n?|wohnt|wohnst|wohnort|zu ?hause ist|(wo|stadt|land) leb(e|st|t|en)",
            "employer": r"arbeitgeber|(welche\w*|was für eine) firma|(wo|bei wem|für wen) arbeite\w*",
            "job": r"beruf\w*|job|was arbeite\w*|lebensunterhalt|verdien\w* .{0,30}geld",
            "studies": r"studier\w*|studium|studienfach",
            "school": r"(welche\w*|was für eine) (schule|uni|universität|klasse)|wo .{0,20}zur schule",
            "surname": r"nachnamen?|familiennamen?|mit nachnamen",
            "birthday": r"geburtstag|geburtsdatum|wann .{0,30}geboren",
            "age": r"wie alt|(mein|sein|ihr|welches) alter",
            "partner": r"mit wem .{0,30}(verheiratet|zusammen)|wer ist meine? (partner\w*|frau|mann)",
            "relationship": r"familienstand|bin ich (\w+ )?(verheiratet|ledig|single|geschieden)",
            "allergy": r"allerg\w*|unverträglich\w*|vertrag(e|en)|verträgt",
            "diet": r"ernähr\w*|vegetar\w*|vegan\w*|diät|ess?e ich (kein\w*|nicht)|isst .{0,30}(kein\w*|nicht)",
            "condition": r"krankheit\w*|erkrank\w*|diagnos\w*|beschwerden|leid(e|et) .{0,20}(an|unter)",
            "breed": r"rasse|was für ein(en)? hund",
            "pets": r"haustiere?",
            "car": r"(welche\w*|was für ein\w*) (auto|wagen)|automarke",
            "phone": r"(welche\w*|was für ein\w*) (handy|telefon|smartphone)",
            "time_zone": r"zeitzone",
            "pastime": r"hobbys?|freizeit",
            "name": r"heiß(e|t|en)|hieß(en)?|(vor)?namen?",
        },
        first_person=r"ich|mich|mir|wir|uns",
        possessive=r"mein(?:e[mnrs]?)?|unser(?:e[mnrs]?)?",
        relations=_by_word(
            {
                "wife": "frau ehefrau",
                "husband": "mann ehemann",
                "partner": "partner partnerin",
                "girlfriend": "freundin",
                "boyfriend": "freund",
                "mother": "mutter mama",
                "father": "vater papa",
                "parents": "eltern",
                "sister": "schwester",
                "brother": "bruder",
                "daughter": "tochter",
                "son": "sohn",
                "children": "kinder",
                "child": "kind",
                "grandmother": "oma großmutter",
                "grandfather": "opa großvater",
                "aunt": "tante",
                "uncle": "onkel",
                "niece": "nichte",
                "nephew": "neffe",
                "grandson": "enkel",
                "granddaughter": "enkelin",
                "mother-in-law": "schwiegermutter",
                "father-in-law": "schwiegervater",
                "boss": "chef chefin",
                "neighbor": "nachbar nachbarin",
                "colleague": "kollege kollegin",
                "dog": "hund hündin",
                "cat": "katze kater",
                "horse": "pferd",
                "rabbit": "kaninchen",
            }
        ),
    ),
    "spanish": AttributeWords(
        asks={
            "address": r"dirección|domicilio|(qué|en qué) calle",
            "origin": r"de dónde (soy|eres|es|somos|son|vengo|viene)|dónde (nací|nació|crecí|creció)",
            "home": r"viv(o|es|e|imos|en)|resid(o|e)",
            "employer": r"(dónde|para quién|(en|para) qué empresa) trabaj\w+|empleador",
            "job": r"(en|de) qué trabaj\w+|profesión|oficio|ocupación|empleo|me dedico|se dedica",
            "studies": r"(qué|carrera) estudi\w+|carrera universitaria",
            "school": r"(qué|cuál) (es mi |es su )?(escuela|colegio|universidad|instituto)",
            "surname": r"apellidos?",
            "birthday": r"cumpleaños|fecha de nacimiento|cuándo (nací|nació|nacieron|cumpl\w+)",
            "age": r"edad|cuántos años",
            "partner": r"con quién (\w+ )?(casad[oa]|vivo|salgo)|quién es mi (pareja|marido|mujer|esposa?)",
            "relationship": r"estado civil|(estoy|soy) (\w+ )?(casad[oa]|solter[oa]|divorciad[oa])",
            "allergy": r"alergias?|alérgic[oa]s?|intoleran\w+",
            "diet": r"vegetarian\w+|vegan\w+|dieta|no com(o|e)",
            "condition": r"enfermedad\w*|padec\w+|diagnostic\w+|diagnóstico",
            "breed": r"raza",
            "pets": r"mascotas?",
            "car": r"qué (coche|carro|auto)",
            "phone": r"qué (móvil|celular|teléfono)",
            "time_zone": r"zona horaria|huso horario",
            "pastime": r"afici(ón|ones)|pasatiempos?|hobbies|hobby|tiempo libre",
            "name": r"cómo (se |me |nos )llam\w+|nombres?",
        },
        first_person=r"yo|me|mí|conmigo|nos|nosotr[oa]s|soy|tengo|vivo|trabajo|estudio|nací|hago|estoy|somos|tenemos|vivimos",
        possessive=r"mis?|nuestr[oa]s?",
        relations=_by_word(
            {
                "wife": "esposa mujer",
                "husband": "esposo marido",
                "partner": "pareja",
                "girlfriend": "novia",
                "boyfriend": "novio",
                "mother": "madre mamá",
                "father": "padre papá",
                "parents": "padres",
                "sister": "hermana",
                "brother": "hermano",
                "daughter": "hija",
                "son": "hijo",
                "children": "hijos",
                "grandmother": "abuela",
                "grandfather": "abuelo",
                "aunt": "tía",
                "uncle": "tío",
                "niece": "sobrina",
                "nephew": "sobrino",
                "granddaughter": "nieta",
                "grandson": "nieto",
                "mother-in-law": "suegra",
                "father-in-law": "suegro",
                "boss": "jefa jefe",
                "neighbor": "vecina vecino",
                "friend": "amiga amigo",
                "dog": "perro perra",
                "cat": "gato gata",
                "horse": "caballo",
                "rabbit": "conejo",
            }
        ),
    ),
    "french": AttributeWords(
        asks={
            "address": r"adresse|(quelle|dans quelle) rue",
            "origin": r"d['’]où (je |tu |il |elle |on )?(vien\w+|sor\w+|suis|est)|origines?|où .{0,20}(née?s?|grandi)",
            "home": r"habit(e|es|ons|ent)|où .{0,20}(vis|vit|vivons)",
            "employer": r"employeur|(où|pour qui|quelle (entreprise|boîte)).{0,20} travaill\w+",
            "job": r"métier|profession|boulot|(dans quoi|comme quoi) .{0,20}travaill\w+|dans la vie|gagne .{0,12}vie",
            "studies": r"études?|étudi(e|es|é)",
            "school": r"quel(le)? (est (mon|son|ma|sa) )?(école|lycée|collège|université|fac)",
            "surname": r"nom de famille",
            "birthday": r"anniversaire|date de naissance|quand .{0,20}(née?s?)",
            "age": r"quel âge|âge",
            "partner": r"avec qui .{0,20}(mariée?|vis|couple)|qui est m(on|a) (mari|femme|conjointe?|compagn\w+)",
            "relationship": r"situation familiale|état civil|suis[- ]je (\w+ )?(mariée?|célibataire|divorcée?)",
            "allergy": r"allerg\w+|intoléran\w+",
            "diet": r"végétarien\w*|végane?s?|régime|ne mange",
            "condition": r"maladies?|souffr\w+|diagnosti\w+",
            "breed": r"race",
            "pets": r"animaux|animal de compagnie",
            "car": r"quelle (est ma |est sa )?voiture|quelle marque de voiture",
            "phone": r"quel (est mon )?(téléphone|portable)",
            "time_zone": r"fuseau horaire",
            "pastime": r"loisirs?|passe-temps|hobbys?|temps libre",
            "name": r"s['’]appell\w+|m['’]appell\w+|prénoms?|quel est (le|mon|son) nom",
        },
        first_person=r"je|moi|me|nous|[jm]['’]\w+",
        possessive=r"mon|ma|mes|notre|nos",
        relations=_by_word(
            {
                "wife": "femme épouse",
                "husband": "mari époux",
                "partner": "conjoint conjointe compagne compagnon",
                "girlfriend": "copine",
                "boyfriend": "copain",
                "mother": "mère maman",
                "father": "père papa",
                "parents": "parents",
                "sister": "sœur",
                "brother": "frère",
                "daughter": "fille",
                "son": "fils",
                "children": "enfants",
                "child": "enfant",
                "grandmother": "grand-mère mamie",
                "grandfather": "grand-père papi",
                "aunt": "tante",
                "uncle": "oncle",
                "niece": "nièce",
                "nephew": "neveu",
                "granddaughter": "petite-fille",
                "grandson": "petit-fils",
                "mother-in-law": "belle-mère",
                "father-in-law": "beau-père",
                "boss": "patron patronne chef",
                "neighbor": "voisin voisine",
                "friend": "ami amie",
                "dog": "chien chienne",
                "cat": "chat chatte",
                "horse": "cheval",
                "rabbit": "lapin",
            }
        ),
    ),
}
