"""The list prices, so that a first receipt already has a cost."""

from django.db import migrations

from budget.spending.prices import seed


def add_list_prices(apps, schema_editor):
    seed(apps.get_model("budget", "Price").objects.using(schema_editor.connection.alias))


class Migration(migrations.Migration):
    dependencies = [("budget", "0001_initial")]

    operations = [migrations.RunPython(add_list_prices, migrations.RunPython.noop)]
