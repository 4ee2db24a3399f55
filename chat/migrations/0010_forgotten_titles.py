"""A conversation whose title was forgotten is untitled."""

from django.db import migrations

UNTITLE = "UPDATE chat_conversation SET title = '' WHERE title = '[forgotten]'"


class Migration(migrations.Migration):
    dependencies = [("chat", "0009_forget_requests")]

    operations = [migrations.RunSQL(UNTITLE, migrations.RunSQL.noop)]
