"""Processes: the one-command start, the supervisor, the embedded PostgreSQL, and the schedule of periodic tasks.

Enter at `startup.up` (`manage.py up`), `startup.prepare_database`, `embedded_postgres.open_cluster` and
`schedule.BEAT_SCHEDULE`.

May import recall.db and recall.observability; `startup` also accounts. Never serves a request.
"""
