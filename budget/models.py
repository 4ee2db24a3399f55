"""Budget's tables: receipts, profile snapshots, prices, calibration, and users' plans, limits and usage."""

from django.contrib.postgres.indexes import GinIndex
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q

from recall.db.ownership import Owned, OwnedManager


class ProfileSnapshot(Owned):
    """The exact profile text a conversation is pinned to, so that its requests share a cacheable prefix."""

    conversation = models.ForeignKey("chat.Conversation", on_delete=models.CASCADE, related_name="profile_snapshots")
    text = models.TextField(help_text="As in the prompt")
    lines = models.JSONField(default=list, help_text="Its lines: {ref, text, tokens}")
    reason = models.CharField(max_length=20, help_text="new, cold, compacted or forgotten")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OwnedManager["ProfileSnapshot"]()

    class Meta:
        indexes = [models.Index(fields=["conversation", "-id"], name="snapshot_latest")]

    def __str__(self) -> str:
        return f"snapshot {self.pk} of {self.conversation_id}"


class Receipt(Owned):
    """The record of one turn's prompt: every candidate, kept or cut and by which rule, usage, cost and timings."""

    class State(models.TextChoices):
        OPEN = "open", "In progress"
        COMPLETE = "complete", "Complete"
        STOPPED = "stopped", "Stopped"
        FAILED = "failed", "Failed"

    conversation = models.ForeignKey("chat.Conversation", on_delete=models.CASCADE, related_name="receipts")
    message = models.OneToOneField("chat.Message", on_delete=models.CASCADE, related_name="receipt")
    turn = models.PositiveIntegerField()
    state = models.CharField(max_length=8, choices=State, default=State.OPEN)
    model = models.CharField(max_length=80)
    plan = models.CharField(max_length=20, help_text="Name of the budget plan")
    plan_total = models.PositiveIntegerField(help_text="Tokens the plan allows, output reserve included")
    sections = models.JSONField(default=list, help_text="[{section, ceiling, tokens, cut_tokens, items, cut}] in order")
    items = models.JSONField(default=list, help_text="[{ref, section, label, tokens, score, parts, kept, rule, url}]")
    estimated_input = models.PositiveIntegerField(default=0, help_text="Calibrated estimate of the first request")
    base_by_class = models.JSONField(default=dict, help_text="Base count of the first request: text class → tokens")
    request_digest = models.CharField(max_length=64, help_text="SHA-256 of the first request as sent")
    prefix = models.JSONField(
        default=dict, help_text="Cacheable parts and their tokens: budget/counting/cached_prefix.py"
    )
    snapshot = models.ForeignKey(ProfileSnapshot, null=True, on_delete=models.SET_NULL, related_name="receipts")

    rounds = models.JSONField(default=list, help_text="The provider's usage figures, one object per request")
    input_tokens = models.PositiveIntegerField(default=0, help_text="Fresh input, over all rounds")
    cache_read_tokens = models.PositiveIntegerField(default=0)
    cache_write_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    usage_is_estimated = models.BooleanField(default=False, help_text="The final figures never arrived")
    cost = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, help_text="US dollars; empty: no price known"
    )
    cost_uncached = models.DecimalField(max_digits=12, decimal_places=6, null=True)
    stop_reason = models.CharField(max_length=40, blank=True)
    timings = models.JSONField(default=dict, help_text="Milliseconds: retrieve, compile, first_token, total")
    ingredients = models.JSONField(
        default=dict, help_text="Inputs of the request that no other row keeps; `manage.py replay` reads them"
    )
    cut_kept_days = models.PositiveIntegerField(
        null=True, blank=True, help_text="Days after which the list of cut items was removed; empty: still there"
    )
    cut_rules = models.JSONField(
        default=dict, blank=True, help_text="Once that list is removed: rule → number of items cut"
    )
    words_kept_days = models.PositiveIntegerField(
        null=True, blank=True, help_text="Days after which the texts were removed; empty: still there"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = OwnedManager["Receipt"]()

    class Meta:
        indexes = [
            models.Index(fields=["conversation", "turn"], name="receipt_turn"),
            models.Index(fields=["user", "-created_at"], name="receipt_latest"),
            GinIndex(fields=["items"], name="receipt_items", opclasses=["jsonb_path_ops"]),
            models.Index(fields=["created_at"], name="receipt_lists_cut", condition=Q(cut_kept_days=None)),
            models.Index(fields=["created_at"], name="receipt_has_words", condition=Q(words_kept_days=None)),
        ]

    def __str__(self) -> str:
        return f"receipt of message {self.message_id}"

    @property
    def total_input(self) -> int:
        """All input tokens of all rounds, cached or not."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens

    @property
    def total_tokens(self) -> int:
        """All tokens of all rounds, in and out, as the usage counts them."""
        return self.total_input + self.output_tokens


class BudgetPlan(Owned):
    """A user's plan: a preset and the ceilings they changed. No row: the default preset."""

    preset = models.CharField(max_length=20, help_text="Name of a plan in budget/planning/plan.py")
    total = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens; empty: the preset's")
    output_reserve = models.PositiveIntegerField(null=True, blank=True, help_text="Tokens; empty: the preset's")
    ceilings = models.JSONField(default=dict, blank=True, help_text="Section → tokens, where changed")
    updated_at = models.DateTimeField(auto_now=True)

    objects = OwnedManager["BudgetPlan"]()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user"], name="one_plan_a_person")]

    def __str__(self) -> str:
        return f"{self.preset} of {self.user_id}"


class Limit(Owned):
    """What a user may use in a day or a month of their time zone."""

    class What(models.TextChoices):
        TURNS = "turns", "Turns"
        TOKENS = "tokens", "Tokens"
        MONEY = "money", "US dollars"

    class Per(models.TextChoices):
        DAY = "day", "Day"
        MONTH = "month", "Month"

    what = models.CharField(max_length=6, choices=What)
    per = models.CharField(max_length=5, choices=Per)
    amount = models.DecimalField(max_digits=14, decimal_places=4)
    set_by_staff = models.BooleanField(default=False, help_text="The user may lower it, not raise or remove it")

    objects = OwnedManager["Limit"]()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "what", "per", "set_by_staff"], name="one_limit_of_a_kind"),
            models.CheckConstraint(condition=Q(amount__gte=0), name="limit_not_below_zero"),
        ]

    def __str__(self) -> str:
        return f"{self.amount} {self.what} a {self.per}"


class UsageDay(Owned):
    """A user's usage of one model on one day of their time zone. It outlives the conversations."""

    day = models.DateField()
    model = models.CharField(max_length=80)
    turns = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveBigIntegerField(default=0, help_text="Fresh input")
    cache_read_tokens = models.PositiveBigIntegerField(default=0)
    cache_write_tokens = models.PositiveBigIntegerField(default=0)
    output_tokens = models.PositiveBigIntegerField(default=0)
    # Never below 0: an imported archive could otherwise lift the limits that staff set.
    cost = models.DecimalField(
        max_digits=14,
        decimal_places=6,
        default=0,
        validators=[MinValueValidator(0)],
        help_text="US dollars, where prices are known",
    )
    cost_uncached = models.DecimalField(max_digits=14, decimal_places=6, default=0, validators=[MinValueValidator(0)])
    unpriced = models.PositiveIntegerField(default=0, help_text="Turns and background calls whose cost is not known")

    objects = OwnedManager["UsageDay"]()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "day", "model"], name="one_usage_a_day_and_model")]

    def __str__(self) -> str:
        return f"{self.day} {self.model} of {self.user_id}"

    @property
    def tokens(self) -> int:
        """All tokens, in and out."""
        return self.input_tokens + self.cache_read_tokens + self.cache_write_tokens + self.output_tokens


class Price(models.Model):
    """US dollars per million tokens of one model from a date on; a tier applies above a total input."""

    model = models.CharField(max_length=80)
    valid_from = models.DateField()
    from_input_tokens = models.PositiveIntegerField(default=0, help_text="Tier: applies above this total input")
    input = models.DecimalField(max_digits=10, decimal_places=4)
    output = models.DecimalField(max_digits=10, decimal_places=4)
    write_5m = models.DecimalField(max_digits=10, decimal_places=4)
    write_1h = models.DecimalField(max_digits=10, decimal_places=4)
    read = models.DecimalField(max_digits=10, decimal_places=4)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["model", "valid_from", "from_input_tokens"], name="one_price_a_model_date_and_tier"
            )
        ]
        ordering = ["model", "-valid_from", "from_input_tokens"]

    def __str__(self) -> str:
        return f"{self.model} from {self.valid_from}"


class Calibration(models.Model):
    """The provider's tokens per base token, by model and text class, learned from usage."""

    model = models.CharField(max_length=80)
    text_class = models.CharField(max_length=10)
    ratio = models.FloatField()
    covariance = models.JSONField(default=dict, help_text="Of this ratio with every class's: class → value")
    samples = models.PositiveIntegerField(default=0)
    error = models.FloatField(default=0.0, help_text="Running mean of |estimate − actual| ÷ actual")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["model", "text_class"], name="one_ratio_a_model_and_class")]

    def __str__(self) -> str:
        return f"{self.model} {self.text_class}: {self.ratio:.2f}"
