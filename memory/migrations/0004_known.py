from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("chat", "0002_index"),
        ("memory", "0003_index"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="fact",
            name="accepted_at",
            field=models.DateTimeField(
                blank=True, help_text="When a person accepted it; empty: it was kept at once, or still waits", null=True
            ),
        ),
        migrations.AddField(
            model_name="fact",
            name="withdrawn_at",
            field=models.DateTimeField(
                blank=True, help_text="When a person rejected it after it had been taken for true", null=True
            ),
        ),
        migrations.AddConstraint(
            model_name="episode",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status", "live")),
                fields=("conversation", "first_turn", "last_turn"),
                name="one_live_episode_a_turn_range",
            ),
        ),
        # What people decided before these columns were there.
        migrations.RunSQL(
            [
                """
                UPDATE memory_fact SET accepted_at = decided.at
                FROM (
                    SELECT fact_id, max(created_at) AS at FROM memory_reviewaction
                    WHERE undone_at IS NULL AND verb IN ('accept', 'edit') GROUP BY fact_id
                ) AS decided
                WHERE fact_id = memory_fact.id
                """,
                """
                UPDATE memory_fact SET withdrawn_at = decided.at
                FROM (
                    SELECT fact_id, max(created_at) AS at FROM memory_reviewaction
                    WHERE undone_at IS NULL AND verb = 'reject'
                        AND before -> fact_id::text ->> 'status' = 'active' GROUP BY fact_id
                ) AS decided
                WHERE fact_id = memory_fact.id
                """,
            ],
            migrations.RunSQL.noop,
        ),
    ]
