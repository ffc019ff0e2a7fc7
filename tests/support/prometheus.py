"""A Prometheus for tests: found on PATH, or installed as Debian's package, or a clear word that there is none."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.ports import free_port

ROOT = Path(__file__).resolve().parents[2]


def program(name: str) -> str:
    """The path of `prometheus` or `promtool`. Skips the test where there is none; in CI it fails."""
    found = shutil.which(name) or _installed(name)
    if found is None:
        word = f"there is no {name} here, and the package prometheus cannot be installed"
        if os.environ.get("CI") or (ROOT.parent / "shared").exists():
            pytest.fail(word)
        pytest.skip(word)
    return found


def _installed(name: str) -> str | None:
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        return None
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    install = [apt, "-qq", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300", "install", "prometheus"]
    for command in ([apt, "-qq", "update"], install):
        subprocess.run(command, check=False, capture_output=True, env=environment)
    return shutil.which(name)


@contextmanager
def running_prometheus(folder: Path) -> Iterator[str]:
    """Run one with the `prometheus.yml` of `folder`, on loopback; yields its address."""
    port = free_port()
    command = [
        program("prometheus"),
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address=127.0.0.1:{port}",
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()
