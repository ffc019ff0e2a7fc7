"""A server of S3 storage, in an environment of its own (tests/external/moto_run.py), with faults on request."""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.request import Request, urlopen

from openspot.backup.s3 import S3Storage
from tests.external import programs
from tests.external.programs import environment
from tests.support.ports import free_port
from tests.support.waiting import stretched

BUCKET = "backups"
REGION = "us-east-1"
SLOW_S = 2.0
PAGE = 3
"""So many names come in a page of a listing."""
PROGRAM = Path(programs.__file__).with_name("moto_run.py")


class S3Server(NamedTuple):
    """A server that runs, and the keys of its user."""

    process: "subprocess.Popen[str]"
    url: str
    access_key: str
    secret_key: str

    def storage(self, prefix: str, **given: Any) -> S3Storage:
        """The storage of a prefix, for this server's user unless other keys are given."""
        keys = {"access_key": self.access_key, "secret_key": self.secret_key}
        return S3Storage(BUCKET, prefix, **{"region": REGION, "endpoint": self.url} | keys | given)

    def fail(self, requests: int, of: str, how: str) -> None:
        """Let the next requests fail."""
        body = json.dumps({"requests": requests, "of": of, "how": how}).encode()
        with urlopen(Request(f"{self.url}/faults", body, method="POST"), timeout=10) as answer:
            assert answer.status == 200


@contextmanager
def s3_server() -> Iterator[S3Server]:
    """A server, which ends with the block."""
    port = free_port()
    process = subprocess.Popen(
        [environment("moto") / "bin/python", PROGRAM, str(port), BUCKET, REGION, str(SLOW_S)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=os.environ | {"MOTO_S3_DEFAULT_MAX_KEYS": str(PAGE)},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        access_key, secret_key = json.loads(process.stdout.readline())
        yield S3Server(process, f"http://127.0.0.1:{port}", access_key, secret_key)
    finally:
        process.terminate()
        process.wait(stretched(10))
        process.stdout.close()
