"""Messages that ask to forget something are found without reading the others."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("chat", "0001_squashed_0008_few_words_waiting")]

    operations = [
        migrations.AddIndex(
            model_name="message",
            index=models.Index(
                condition=models.Q(event_data__has_key="withholds"), fields=["user"], name="message_withholds"
            ),
        ),
    ]
