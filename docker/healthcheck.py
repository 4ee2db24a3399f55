"""Exit code 0 when the web process in this container says that it is fit to serve; imports nothing of Recall."""

import http.client
import os
import sys

# Django refuses a host name that it was not told to answer for.
NAME = os.environ.get("ALLOWED_HOSTS", "").split(",")[0].strip().lstrip(".").replace("*", "") or "localhost"

connection = http.client.HTTPConnection("127.0.0.1", 8000, timeout=8)
connection.request("GET", "/healthz", headers={"Host": NAME})
sys.exit(connection.getresponse().status != http.HTTPStatus.OK)
