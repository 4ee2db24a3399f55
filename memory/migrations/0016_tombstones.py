import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import memory.models.tombstones

PK = models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")
OWNER = models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL)


class Migration(migrations.Migration):
    dependencies = [("memory", "0015_omitted_messages"), migrations.swappable_dependency(settings.AUTH_USER_MODEL)]

    operations = [
        migrations.CreateModel(
            name="ForgetList",
            fields=[
                ("id", PK.clone()),
                (
                    "key",
                    memory.models.tombstones.SealedField(default=memory.models.tombstones.new_key, max_length=96),
                ),
                ("user", OWNER.clone()),
            ],
            options={"abstract": False},
        ),
        migrations.CreateModel(
            name="Tombstone",
            fields=[
                ("id", PK.clone()),
                (
                    "start",
                    models.BigIntegerField(help_text="Keyed hash of its first words, by which candidates are found"),
                ),
                ("words", models.PositiveSmallIntegerField(help_text="1: an identifier; 0: the value of a key")),
                ("digest", models.CharField(help_text="Keyed digest of its words, in lower case", max_length=32)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "forgetting",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="tombstones",
                        to="memory.forgetting",
                    ),
                ),
                (
                    "of",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tombstones",
                        to="memory.forgetlist",
                    ),
                ),
                ("user", OWNER.clone()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "start", "of", "digest"), name="one_tombstone_a_phrase")
                ],
            },
        ),
    ]
