"""The extensions every table rests on; does nothing where the database's owner has made them already."""

from django.apps.registry import Apps
from django.contrib.postgres.operations import BtreeGinExtension, CreateExtension, TrigramExtension, UnaccentExtension
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from pgvector.django import VectorExtension

from recall.db.requirements import check_database


def check(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    check_database(schema_editor.connection)


class Migration(migrations.Migration):
    dependencies = []
    operations = [
        migrations.RunPython(check, migrations.RunPython.noop),
        VectorExtension(),
        CreateExtension("ltree"),
        TrigramExtension(),
        UnaccentExtension(),
        BtreeGinExtension(),
    ]
