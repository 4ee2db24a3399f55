from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("budget", "0005_costs_are_never_negative")]

    operations = [
        migrations.AddField(
            model_name="receipt",
            name="cut_kept_days",
            field=models.PositiveIntegerField(
                blank=True, help_text="Days after which the list of what was cut went; empty: it is there", null=True
            ),
        ),
        migrations.AddField(
            model_name="receipt",
            name="cut_rules",
            field=models.JSONField(
                blank=True, default=dict, help_text="Once that list is gone: rule → how many were cut by it"
            ),
        ),
        migrations.AddField(
            model_name="receipt",
            name="words_kept_days",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="Days after which the words of what stood in it went; empty: they are there",
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name="receipt",
            index=models.Index(
                condition=models.Q(("cut_kept_days", None)), fields=["created_at"], name="receipt_lists_cut"
            ),
        ),
        migrations.AddIndex(
            model_name="receipt",
            index=models.Index(
                condition=models.Q(("words_kept_days", None)), fields=["created_at"], name="receipt_has_words"
            ),
        ),
    ]
