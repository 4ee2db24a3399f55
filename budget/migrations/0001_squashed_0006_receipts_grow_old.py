"""The budget's tables in release 0.1.0, from which upgrades start: one migration instead of its 6.

Columns are in the order in which those added them, so that a new database and an upgraded one are the same.
"""

import django.contrib.postgres.indexes
import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from budget.spending.prices import seed


def add_list_prices(apps, schema_editor):
    """A first receipt already has a cost."""
    seed(apps.get_model("budget", "Price").objects.using(schema_editor.connection.alias))


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("budget", "0001_initial"),
        ("budget", "0002_prices"),
        ("budget", "0003_plans_limits_and_usage"),
        ("budget", "0004_prefix_and_covariance"),
        ("budget", "0005_costs_are_never_negative"),
        ("budget", "0006_receipts_grow_old"),
    ]
    dependencies = [
        ("chat", "0001_squashed_0008_few_words_waiting"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Calibration",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.CharField(max_length=80)),
                ("text_class", models.CharField(max_length=10)),
                ("ratio", models.FloatField()),
                ("samples", models.PositiveIntegerField(default=0)),
                ("error", models.FloatField(default=0.0, help_text="Running mean of |estimate − actual| ÷ actual")),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "covariance",
                    models.JSONField(default=dict, help_text="Of this ratio with every class's: class → value"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("model", "text_class"), name="one_ratio_a_model_and_class")
                ],
            },
        ),
        migrations.CreateModel(
            name="Price",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("model", models.CharField(max_length=80)),
                ("valid_from", models.DateField()),
                (
                    "from_input_tokens",
                    models.PositiveIntegerField(default=0, help_text="Tier: applies above this total input"),
                ),
                ("input", models.DecimalField(decimal_places=4, max_digits=10)),
                ("output", models.DecimalField(decimal_places=4, max_digits=10)),
                ("write_5m", models.DecimalField(decimal_places=4, max_digits=10)),
                ("write_1h", models.DecimalField(decimal_places=4, max_digits=10)),
                ("read", models.DecimalField(decimal_places=4, max_digits=10)),
            ],
            options={
                "ordering": ["model", "-valid_from", "from_input_tokens"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("model", "valid_from", "from_input_tokens"), name="one_price_a_model_date_and_tier"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ProfileSnapshot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("text", models.TextField(help_text="As in the prompt")),
                ("lines", models.JSONField(default=list, help_text="Its lines: {ref, text, tokens}")),
                ("reason", models.CharField(help_text="new, cold, compacted or forgotten", max_length=20)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="profile_snapshots",
                        to="chat.conversation",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["conversation", "-id"], name="snapshot_latest")],
            },
        ),
        migrations.CreateModel(
            name="Receipt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("turn", models.PositiveIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "In progress"),
                            ("complete", "Complete"),
                            ("stopped", "Stopped"),
                            ("failed", "Failed"),
                        ],
                        default="open",
                        max_length=8,
                    ),
                ),
                ("model", models.CharField(max_length=80)),
                ("plan", models.CharField(help_text="Name of the budget plan", max_length=20)),
                (
                    "plan_total",
                    models.PositiveIntegerField(help_text="Tokens the plan allows, output reserve included"),
                ),
                (
                    "sections",
                    models.JSONField(
                        default=list, help_text="[{section, ceiling, tokens, cut_tokens, items, cut}] in order"
                    ),
                ),
                (
                    "items",
                    models.JSONField(
                        default=list, help_text="[{ref, section, label, tokens, score, parts, kept, rule, url}]"
                    ),
                ),
                (
                    "estimated_input",
                    models.PositiveIntegerField(default=0, help_text="Calibrated estimate of the first request"),
                ),
                (
                    "base_by_class",
                    models.JSONField(default=dict, help_text="Base count of the first request: text class → tokens"),
                ),
                ("request_digest", models.CharField(help_text="SHA-256 of the first request as sent", max_length=64)),
                (
                    "rounds",
                    models.JSONField(default=list, help_text="The provider's usage figures, one object per request"),
                ),
                ("input_tokens", models.PositiveIntegerField(default=0, help_text="Fresh input, over all rounds")),
                ("cache_read_tokens", models.PositiveIntegerField(default=0)),
                ("cache_write_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                ("usage_is_estimated", models.BooleanField(default=False, help_text="The final figures never arrived")),
                (
                    "cost",
                    models.DecimalField(
                        decimal_places=6, help_text="US dollars; empty: no price known", max_digits=12, null=True
                    ),
                ),
                ("cost_uncached", models.DecimalField(decimal_places=6, max_digits=12, null=True)),
                ("stop_reason", models.CharField(blank=True, max_length=40)),
                (
                    "timings",
                    models.JSONField(default=dict, help_text="Milliseconds: retrieve, compile, first_token, total"),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "conversation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="receipts", to="chat.conversation"
                    ),
                ),
                (
                    "message",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="receipt", to="chat.message"
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="receipts",
                        to="budget.profilesnapshot",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "ingredients",
                    models.JSONField(
                        default=dict,
                        help_text="Inputs of the request that no other row keeps; `manage.py replay` reads them",
                    ),
                ),
                (
                    "prefix",
                    models.JSONField(
                        default=dict, help_text="Cacheable parts and their tokens: budget/counting/cached_prefix.py"
                    ),
                ),
                (
                    "cut_kept_days",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Days after which the list of cut items was removed; empty: still there",
                        null=True,
                    ),
                ),
                (
                    "cut_rules",
                    models.JSONField(
                        blank=True, default=dict, help_text="Once that list is removed: rule → number of items cut"
                    ),
                ),
                (
                    "words_kept_days",
                    models.PositiveIntegerField(
                        blank=True, help_text="Days after which the texts were removed; empty: still there", null=True
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["conversation", "turn"], name="receipt_turn"),
                    models.Index(fields=["user", "-created_at"], name="receipt_latest"),
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["items"], name="receipt_items", opclasses=["jsonb_path_ops"]
                    ),
                    models.Index(
                        condition=models.Q(("cut_kept_days", None)), fields=["created_at"], name="receipt_lists_cut"
                    ),
                    models.Index(
                        condition=models.Q(("words_kept_days", None)), fields=["created_at"], name="receipt_has_words"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="BudgetPlan",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("preset", models.CharField(help_text="Name of a plan in budget/planning/plan.py", max_length=20)),
                ("total", models.PositiveIntegerField(blank=True, help_text="Tokens; empty: the preset's", null=True)),
                (
                    "output_reserve",
                    models.PositiveIntegerField(blank=True, help_text="Tokens; empty: the preset's", null=True),
                ),
                ("ceilings", models.JSONField(blank=True, default=dict, help_text="Section → tokens, where changed")),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("user",), name="one_plan_a_person")],
            },
        ),
        migrations.CreateModel(
            name="Limit",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "what",
                    models.CharField(
                        choices=[("turns", "Turns"), ("tokens", "Tokens"), ("money", "US dollars")], max_length=6
                    ),
                ),
                ("per", models.CharField(choices=[("day", "Day"), ("month", "Month")], max_length=5)),
                ("amount", models.DecimalField(decimal_places=4, max_digits=14)),
                (
                    "set_by_staff",
                    models.BooleanField(default=False, help_text="The user may lower it, not raise or remove it"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "what", "per", "set_by_staff"), name="one_limit_of_a_kind"),
                    models.CheckConstraint(condition=models.Q(("amount__gte", 0)), name="limit_not_below_zero"),
                ],
            },
        ),
        migrations.CreateModel(
            name="UsageDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField()),
                ("model", models.CharField(max_length=80)),
                ("turns", models.PositiveIntegerField(default=0)),
                ("input_tokens", models.PositiveBigIntegerField(default=0, help_text="Fresh input")),
                ("cache_read_tokens", models.PositiveBigIntegerField(default=0)),
                ("cache_write_tokens", models.PositiveBigIntegerField(default=0)),
                ("output_tokens", models.PositiveBigIntegerField(default=0)),
                (
                    "cost",
                    models.DecimalField(
                        decimal_places=6,
                        default=0,
                        help_text="US dollars, where prices are known",
                        max_digits=14,
                        validators=[django.core.validators.MinValueValidator(0)],
                    ),
                ),
                (
                    "cost_uncached",
                    models.DecimalField(
                        decimal_places=6,
                        default=0,
                        max_digits=14,
                        validators=[django.core.validators.MinValueValidator(0)],
                    ),
                ),
                (
                    "unpriced",
                    models.PositiveIntegerField(
                        default=0, help_text="Turns and background calls whose cost is not known"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("user", "day", "model"), name="one_usage_a_day_and_model")
                ],
            },
        ),
        migrations.RunPython(add_list_prices, migrations.RunPython.noop),
    ]
