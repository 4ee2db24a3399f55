"""Languages a user can write in, for matching word forms in full-text search.

The table lists PostgreSQL's stemmers; the value is the name of the text search configuration.
"""

from typing import Final

from django.conf.locale import LANG_INFO
from django.db import models
from django.utils.translation.trans_real import parse_accept_lang_header


class Language(models.TextChoices):
    """Labels are the languages' own names."""

    ENGLISH = "english", "English"
    ARABIC = "arabic", "العربية"
    ARMENIAN = "armenian", "Հայերեն"
    BASQUE = "basque", "Euskara"
    CATALAN = "catalan", "Català"
    DANISH = "danish", "Dansk"
    DUTCH = "dutch", "Nederlands"
    FINNISH = "finnish", "Suomi"
    FRENCH = "french", "Français"
    GERMAN = "german", "Deutsch"
    GREEK = "greek", "Ελληνικά"
    HINDI = "hindi", "हिन्दी"
    HUNGARIAN = "hungarian", "Magyar"
    INDONESIAN = "indonesian", "Bahasa Indonesia"
    IRISH = "irish", "Gaeilge"
    ITALIAN = "italian", "Italiano"
    LITHUANIAN = "lithuanian", "Lietuvių"
    NEPALI = "nepali", "नेपाली"
    NORWEGIAN = "norwegian", "Norsk"
    PORTUGUESE = "portuguese", "Português"
    ROMANIAN = "romanian", "Română"
    RUSSIAN = "russian", "Русский"
    SERBIAN = "serbian", "Српски"
    SPANISH = "spanish", "Español"
    SWEDISH = "swedish", "Svenska"
    TAMIL = "tamil", "தமிழ்"
    TURKISH = "turkish", "Türkçe"
    YIDDISH = "yiddish", "ייִדיש"
    ANOTHER = "simple", "Another language (exact words only)"


_NAMES: Final = {code: known["name"] for code, known in LANG_INFO.items() if "name" in known} | {"yi": "Yiddish"}
"""The first part of a language's tag (BCP 47) → its English name."""


def of_browser(accepts: str) -> Language:
    """The first language of an `Accept-Language` header; English if it is empty."""
    tags = [tag.partition("-")[0] for tag, _ in parse_accept_lang_header(accepts) if tag != "*"]
    if not tags:
        return Language.ENGLISH
    name = _NAMES.get(tags[0], "").partition(" ")[0].lower()  # Norwegian, whether Bokmal or Nynorsk
    return Language(name) if name in Language.values else Language.ANOTHER
