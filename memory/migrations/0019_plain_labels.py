"""Plain words for kinds of facts and for the documents that the librarian writes."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memory", "0018_message_changes")]

    operations = [
        migrations.AlterField(
            model_name="document",
            name="source",
            field=models.CharField(
                choices=[
                    ("user", "Written by the user"),
                    ("librarian", "Written by Recall"),
                    ("upload", "Uploaded"),
                    ("import", "Imported"),
                    ("sync", "Synchronized from a folder"),
                ],
                default="user",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="fact",
            name="kind",
            field=models.CharField(
                choices=[
                    ("identity", "Identity"),
                    ("biography", "Biography"),
                    ("person", "Person"),
                    ("place", "Place"),
                    ("event", "Event"),
                    ("preference", "Preference"),
                    ("constraint", "Things to avoid"),
                    ("instruction", "Instruction"),
                    ("goal", "Goal"),
                    ("decision", "Decision"),
                    ("procedure", "How you do it"),
                    ("entity", "Pets and things"),
                    ("fact", "Fact"),
                ],
                default="fact",
                max_length=16,
            ),
        ),
    ]
