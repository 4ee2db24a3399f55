"""Django's checks pass, the models and the migrations agree, upgrades start from 0.1.0, and an unsuitable database is
refused."""

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from recall.db.requirements import EXTENSIONS, FIRST_RELEASE, check_database, find_unmet_requirement
from recall.observability.health import unapplied_migrations

GOOD = {"vector": "0.8.6", "ltree": "1.3", "pg_trgm": "1.6", "unaccent": "1.1", "btree_gin": "1.3"}


@pytest.mark.django_db
def test_django_finds_nothing_wrong() -> None:
    """Workers and clocks start without these checks."""
    assert run_checks() == []


@pytest.mark.django_db
def test_the_models_need_no_migration_that_is_not_there() -> None:
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.mark.django_db
def test_a_migrated_database_has_every_migration_and_extension() -> None:
    assert unapplied_migrations() == []
    with connection.cursor() as cursor:
        cursor.execute("SELECT extname FROM pg_extension")
        assert set(EXTENSIONS) <= {name for (name,) in cursor.fetchall()}


@pytest.mark.parametrize(
    ("server", "available", "sentence"),
    [
        (18, GOOD, None),
        (16, {**GOOD, "vector": "0.8.4"}, None),
        (17, {**GOOD, "vector": "0.9"}, None),
        (17, {**GOOD, "vector": "1.0.0-dev"}, None),
        (15, GOOD, "The database is PostgreSQL 15; Recall needs 16 or later."),
        (18, {**GOOD, "vector": "0.8.3"}, "The database has vector 0.8.3, which has known bugs; Recall needs 0.8.4"),
        (
            18,
            {name: GOOD[name] for name in GOOD if name != "vector"},
            "lacks the extension vector. See docs/self-hosting.md",
        ),
        (18, {"vector": "0.8.6", "ltree": "1.3"}, "lacks the extension pg_trgm and unaccent and btree_gin."),
    ],
)
def test_a_database_that_will_not_do_is_refused_in_one_sentence(
    server: int, available: dict[str, str], sentence: str | None
) -> None:
    said = find_unmet_requirement(server, available)
    assert (said is None) if sentence is None else (said is not None and sentence in said)


@pytest.mark.django_db
def test_migrating_asks_the_database_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    check_database(connection)
    monkeypatch.setattr("recall.db.requirements.EXTENSIONS", {"no_such_extension": ()})
    with pytest.raises(ImproperlyConfigured, match="lacks the extension no_such_extension"):
        check_database(connection)


@pytest.mark.django_db
def test_a_database_of_the_first_release_gets_only_what_came_since() -> None:
    replacements = MigrationExecutor(connection).loader.replacements.values()
    squashed = [one for one in replacements if one.app_label in FIRST_RELEASE]
    assert {one.app_label: one.replaces[-1][1] for one in squashed} == FIRST_RELEASE
    recorded = MigrationRecorder(connection).migration_qs
    recorded.filter(app__in=FIRST_RELEASE).delete()
    for one in squashed:
        recorded.bulk_create(recorded.model(app=app, name=name) for app, name in one.replaces)
    check_database(connection)
    missing = unapplied_migrations()
    assert {"accounts.0008_declined_offers", "memory.0014_subject_keys"} <= set(missing)
    assert not any("squashed" in name for name in missing)


@pytest.mark.django_db
def test_a_database_with_part_of_the_first_release_is_refused() -> None:
    MigrationRecorder(connection).record_unapplied("memory", "0012_words_of_one_person")
    with pytest.raises(ImproperlyConfigured, match=r"Start 0\.1\.0 once"):
        check_database(connection)
