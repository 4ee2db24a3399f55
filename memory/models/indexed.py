"""Columns of every searchable row: vector and full text."""

from typing import Final

from django.contrib.postgres.indexes import GinIndex
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from pgvector.django import HalfVectorField

from recall.db.ownership import Owned
from recall.db.postgres import FEW_WAITING

ZERO_TO_ONE: Final = [MinValueValidator(0.0), MaxValueValidator(1.0)]
"""Validators of scores such as confidence, importance and significance."""


class Indexed(Owned):
    """A row with a vector, and the name of the model that made it.

    The vector comes some seconds after the row (`embedded_by` is empty until then), and may be another model's while
    re-embedding runs: each row is compared within its own model. Half precision costs no recall and keeps the vector in
    the row; a full one would be stored out of line and fetched for every comparison.
    """

    # Without a dimension, because another model may have another one.
    vector = HalfVectorField(null=True, blank=True, editable=False)
    embedded_by = models.CharField(max_length=80, blank=True, help_text="Name of the embedding model")

    class Meta:
        abstract = True


def words_index(name: str) -> GinIndex:
    """Each word as a number of its owner's: what it costs to look one up does not grow with other people's rows."""
    return GinIndex(
        models.Func("user", "search", function="memory_words_of"), gin_pending_list_limit=FEW_WAITING, name=name
    )
