"""What an operator can watch: health, log formats, metrics, and a stopwatch for single steps.

Enter at `health.find_problem`, `logs.with_fields`, the metrics of `metrics.py` and `stopwatch.Stopwatch`.

May import Django and recall.db. Never writes text of a user or a model into a log line or a metric.
"""
