"""What the database needs beyond the ORM: ownership, pooled connections, prepared queries, events, requirements.

Enter at `ownership.OwnedManager` and its `for_user`, `connections.run_in_thread`, `notify.publish_event` and
`prepared.PreparedQuery`.

May import Django and recall.environment. Never imports a model of an app.
"""
