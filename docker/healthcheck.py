"""Exit code 0 when the process in this container is healthy: `web` (the default), `worker` or `beat`.

A worker and the clock renew a row of the database. While that can't be read they count as healthy: restarting them
would not bring it back.
"""

import http.client
import os
import socket
import sys

MAX_AGE = 60
"""Seconds since the last heartbeat; one comes every ten."""


def is_web_healthy() -> bool:
    """Whether the web process says so. Django refuses a host name that is not among its allowed hosts."""
    name = os.environ.get("ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".").replace("*", "") or "localhost"
    connection = http.client.HTTPConnection("127.0.0.1", int(os.environ.get("PORT", "8000")), timeout=8)
    connection.request("GET", "/readyz", headers={"Host": name})
    return connection.getresponse().status == http.HTTPStatus.OK


def has_heartbeat(role: str) -> bool:
    """Whether this container's worker or clock was alive within the last minute."""
    import psycopg

    query = "SELECT extract(epoch FROM now() - seen_at) < %s FROM recall_heartbeat WHERE name = %s"
    try:
        with psycopg.connect(os.environ["DATABASE_URL"], connect_timeout=5) as connection:
            return connection.execute(query, [MAX_AGE, f"{role}@{socket.gethostname()}"]).fetchone() == (True,)
    except psycopg.OperationalError:
        return True


ROLE = sys.argv[1] if len(sys.argv) > 1 else "web"
sys.exit(not (is_web_healthy() if ROLE == "web" else has_heartbeat(ROLE)))
