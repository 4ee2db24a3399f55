"""Keys: subject + attribute, in one spelling, only where there is one value at a time."""

from importlib import import_module

import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import User
from memory.facts.keys import (
    ATTRIBUTES,
    MAX_KEY,
    PREFIXES,
    SubjectType,
    kind_of,
    make_key,
    spell_subject,
    split_key,
    subject_type,
    upgrade_key,
)
from memory.models import Fact, ReviewAction
from memory.models.kinds import Kind


@pytest.mark.parametrize(
    ("subject", "attribute", "key"),
    [
        ("user", "home", "user/home"),
        ("The user", "Home", "user/home"),
        ("Mary", "home", "mary/home"),
        ("Mary Ann O'Hara", "employer", "mary_ann_o_hara/employer"),
        ("user's sister", "home", "user/sister/home"),
        ("user/dog", "name", "user/dog/name"),
        ("project:Atlas", "deadline", "project:atlas/deadline"),
        ("user", "Allergy: Tree nuts", "user/allergy:tree_nuts"),
        ("user", "hobby", ""),
        ("user", "breed", ""),
        ("user/dog", "employer", ""),
        ("project:Atlas", "diet", ""),
        ("", "home", ""),
        ("user", "allergy:", ""),
    ],
)
def test_a_key_is_subject_and_attribute_where_that_subject_has_one_value(
    subject: str, attribute: str, key: str
) -> None:
    assert make_key(subject, attribute) == key


def test_the_subject_decides_the_kind() -> None:
    assert kind_of("user/home") == Kind.BIOGRAPHY
    assert kind_of("mary/home") == Kind.PERSON
    assert kind_of("user/dog/name") == Kind.ENTITY
    assert kind_of("project:atlas/status") == Kind.ENTITY
    assert kind_of("home") is None
    assert kind_of("user/hobby") is None


def test_a_pet_a_relative_and_a_project_are_told_apart() -> None:
    types = [subject_type(subject) for subject in ("user", "mary", "user/sister", "user/dog", "project:atlas")]
    assert types == [
        SubjectType.USER, SubjectType.PERSON, SubjectType.PERSON, SubjectType.PET, SubjectType.PROJECT,
    ]  # fmt: skip


def test_every_attribute_states_why_it_has_one_value() -> None:
    assert all(found.reason and found.of for found in (*ATTRIBUTES.values(), *PREFIXES.values()))


def test_keys_of_earlier_versions_belong_to_the_user() -> None:
    assert [upgrade_key(key) for key in ("home", "allergy:nuts", "", "mary/home")] == [
        "user/home", "user/allergy:nuts", "", "mary/home",
    ]  # fmt: skip


@given(st.text(max_size=200), st.sampled_from([*ATTRIBUTES, "taste:tea", "allergy:nuts"]))
def test_any_name_makes_a_key_that_fits_and_splits_again_or_none(name: str, attribute: str) -> None:
    key = make_key(name, attribute)
    assert len(key) <= MAX_KEY
    if key:
        assert split_key(key) == (spell_subject(name), attribute)
        assert make_key(*split_key(key)) == key


@pytest.mark.django_db
def test_the_migration_gives_stored_keys_and_undoable_decisions_their_subject(alice: User) -> None:
    home, spare = (
        Fact.objects.create(user=alice, statement=f"The user lives in {place}.", status=status, key="home")
        for place, status in (("Lisbon", "active"), ("Porto", "superseded"))
    )
    mary = Fact.objects.create(user=alice, statement="Mary lives in Faro.", status="active", key="mary/home")
    changed = {str(home.pk): {"key": "home", "status": "proposed"}, str(mary.pk): {"status": "proposed"}}
    decision = ReviewAction.objects.create(user=alice, fact=home, verb="accept", by=alice, before=changed)
    forward = import_module("memory.migrations.0014_subject_keys").FORWARD
    with connection.cursor() as cursor:
        cursor.execute(forward)
        cursor.execute(forward)
    for fact in (home, spare, mary, decision):
        fact.refresh_from_db()
    assert [fact.key for fact in (home, spare, mary)] == ["user/home", "user/home", "mary/home"]
    assert decision.before == {
        str(home.pk): {"key": "user/home", "status": "proposed"}, str(mary.pk): {"status": "proposed"},
    }  # fmt: skip
