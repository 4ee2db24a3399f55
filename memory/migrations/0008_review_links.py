from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memory", "0007_forgetting_to_rewrite"),
    ]

    operations = [
        migrations.AddField(
            model_name="reviewaction",
            name="links",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text="Contradictions it settled: [[from, to, relation, strength or null], …]",
            ),
        ),
        migrations.AlterField(
            model_name="reviewaction",
            name="verb",
            field=models.CharField(
                choices=[
                    ("accept", "Accepted"),
                    ("edit", "Edited and accepted"),
                    ("reject", "Rejected"),
                    ("keep_both", "Kept beside the other"),
                    ("unrelated", "Kept, no contradiction"),
                    ("merge", "Merged"),
                ],
                max_length=9,
            ),
        ),
    ]
