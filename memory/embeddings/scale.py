"""What a model's cosines mean: how near questions are to their answers and to other statements, by PAIRS.

Models differ: unrelated texts have a cosine of .04 by the built-in one, of .78 by multilingual-e5-small. Thresholds are
on the built-in model's scale, and `Scale.of` maps them to another's.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from memory.embeddings.limits import Vectors


@dataclass(frozen=True, slots=True)
class Scale:
    """Median cosines of PAIRS by one model."""

    unrelated: float
    """Of a question and the answers to others in its language."""
    related: float
    """Of a question and its answer."""

    def of(self, cosine: float) -> float:
        """The cosine that says as much by this model as `cosine` by the built-in one."""
        nearness = (cosine - BUILT_IN.unrelated) / (BUILT_IN.related - BUILT_IN.unrelated)
        return self.unrelated + nearness * (self.related - self.unrelated)


BUILT_IN: Final = Scale(unrelated=0.04, related=0.64)
"""The built-in model's, with the query encoder, by the English PAIRS."""


def measure(embed_question: Callable[[str], Vectors], embed: Callable[[Sequence[str]], Vectors]) -> Scale:
    """The scale of a model that embeds so. One that finds answers no nearer than other texts is compared as it is."""
    unrelated, related = [], []
    for pairs in PAIRS.values():
        questions = np.stack([embed_question(question) for question, _ in pairs])
        cosines = questions @ embed([answer for _, answer in pairs]).T
        is_answer = np.eye(len(pairs), dtype=bool)
        unrelated.append(cosines[~is_answer])
        related.append(cosines[is_answer])
    scale = Scale(float(np.median(unrelated)), float(np.median(related)))
    return scale if scale.related > scale.unrelated else BUILT_IN


PAIRS: Final[Mapping[str, Sequence[tuple[str, str]]]] = {
    "english": (
        ("What is my wife's name?", "The user is married to Martha."),
        ("Where did I leave the spare key?", "The spare key is under the flowerpot by the back door."),
        ("When does the swimming course start?", "The user's swimming lessons start on the 4th of March."),
        ("Which instrument do I play?", "The user has played the cello since childhood."),
        ("What do I put in my tea?", "The user drinks tea with milk and honey."),
        ("Why did I leave my last job?", "The user quit at the shipyard because of the night shifts."),
        ("How tall is the bookcase?", "The bookcase in the hall is 190 cm tall."),
        ("Who looks after our tortoise in the summer?", "In July the neighbor takes care of the user's tortoise."),
    ),
    "german": (
        ("Wie heißt mein Vermieter?", "Der Vermieter des Nutzers ist Herr Lindner."),
        ("Welche Schuhgröße habe ich?", "Der Nutzer trägt Schuhe in Größe 43."),
        ("Wann fährt mein Zug nach Wien?", "Der Zug des Nutzers nach Wien geht um 9:12 Uhr."),
        ("Womit heizen wir?", "Das Haus des Nutzers wird mit Holzpellets geheizt."),
        ("Was schenke ich Oma zum Geburtstag?", "Der Nutzer will seiner Großmutter eine Strickjacke schenken."),
        ("Warum trinke ich keinen Wein mehr?", "Der Nutzer verträgt seit der Operation keinen Alkohol."),
        ("Wer repariert mein Fahrrad?", "Der Nutzer bringt sein Rad in die Werkstatt von Tobias."),
        ("Wie viele Seiten hat meine Arbeit?", "Die Abschlussarbeit des Nutzers ist 80 Seiten lang."),
    ),
    "spanish": (
        ("¿Cómo se llama mi dentista?", "La dentista del usuario es la doctora Rivas."),
        ("¿Dónde guardo los pasaportes?", "Los pasaportes del usuario están en el cajón del escritorio."),
        ("¿A qué hora abre la biblioteca?", "La biblioteca del barrio abre a las diez."),
        ("¿Qué idioma estoy aprendiendo?", "El usuario estudia japonés por las noches."),
        ("¿Por qué vendí la moto?", "El usuario vendió su moto después del accidente."),
        ("¿Cuánto pago de gimnasio?", "El gimnasio le cuesta al usuario 30 euros al mes."),
        ("¿Quién riega mis plantas?", "La vecina del usuario le riega las plantas en agosto."),
        ("¿Qué comida no soporto?", "El usuario odia las aceitunas."),
    ),
    "french": (
        ("Comment s'appelle mon chef ?", "Le supérieur de l'utilisateur s'appelle Monsieur Garnier."),
        ("Où est garée ma voiture ?", "La voiture de l'utilisateur est au deuxième sous-sol."),
        ("Quand a lieu le mariage de mon frère ?", "Le frère de l'utilisateur se marie le 12 juin."),
        ("Quel sport est-ce que je pratique ?", "L'utilisateur fait de l'escrime deux fois par semaine."),
        ("Pourquoi est-ce que je dors mal ?", "L'utilisateur dort mal à cause du bruit de la rue."),
        ("Combien de chambres a la maison ?", "La maison de l'utilisateur compte quatre chambres."),
        ("Qui garde les enfants le mercredi ?", "Le mercredi, les enfants de l'utilisateur vont chez leur tante."),
        ("Qu'est-ce que je bois le matin ?", "L'utilisateur prend un café noir au petit déjeuner."),
    ),
}
"""Questions and their answers, by the languages that retrieval has cues for; invented for this, in no evaluation."""
