"""A server of S3 storage (moto) with one bucket and one user, and faults on request. Runs in an environment of its own.

    PYTHON moto_run.py PORT BUCKET REGION SLOW_S

prints the keys of the user as JSON when it listens. `POST /faults` with {"requests": n, "of": "PUT", "how": "500"}
lets the next n requests of that method fail: with a status, with "slow" (an answer after SLOW_S), or with "lost" (the
request is carried out and its answer is a fault).
"""

import json
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

from moto import settings
from moto.core import DEFAULT_ACCOUNT_ID
from moto.iam.models import iam_backends
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import make_server

POLICY = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Resource": "*"}]}


class Faults:
    """The server's application, with faults before and after it."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application
        self._fault: dict[str, Any] = {"requests": 0}

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Answer a request."""
        if environ["PATH_INFO"] == "/faults":
            self._fault = json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))
            return _answer(start_response, "200 OK")
        fault = self._fault
        if fault["requests"] <= 0 or fault["of"] != environ["REQUEST_METHOD"]:
            return self._application(environ, start_response)
        fault["requests"] -= 1
        if fault["how"] == "lost":
            b"".join(self._application(environ, lambda *_: None))
            return _answer(start_response, "500 Internal Server Error")
        if fault["how"] == "slow":
            time.sleep(float(sys.argv[4]))
            return _answer(start_response, "503 Slow Down")
        # The body must be read, or the connection ends before the client has the answer.
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        return _answer(start_response, f"{fault['how']} Fault")


def _answer(start_response: Callable[..., Any], status: str) -> list[bytes]:
    start_response(status, [("Content-Length", "0")])
    return [b""]


def main() -> None:
    """Serve until the process is ended."""
    _, port, bucket, region, _ = sys.argv
    settings.INITIAL_NO_AUTH_ACTION_COUNT = 0  # Every request is authenticated.
    users = iam_backends[DEFAULT_ACCOUNT_ID]["aws"]
    users.create_user(region, "backup", "/")
    users.put_user_policy("backup", "s3", json.dumps(POLICY))
    key = users.create_access_key("backup")
    s3_backends[DEFAULT_ACCOUNT_ID]["aws"].create_bucket(bucket, region)
    application = Faults(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", int(port), application, threaded=True)
    print(json.dumps([key.access_key_id, key.secret_access_key]), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
