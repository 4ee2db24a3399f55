"""Token estimates: text classes, ratios learned from the provider's usage, cached prefixes, images, accuracy.

Enter at `estimate.by_class`, `calibration.estimate_for` and `cached_prefix.build_prefix`.

May import planning, budget.models and recall.llm.tokens. Never calls the provider.
"""
