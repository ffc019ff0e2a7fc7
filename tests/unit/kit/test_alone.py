"""A lock of the data directory: one process holds it, others see who, and a kill frees it."""

import fcntl
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from openspot.kit import alone as alone_module
from openspot.kit.alone import BRIEFLY_S, Begun, BusyError, alone, under_way
from tests.support.waiting import eventually

HOLDS = """
import sys, time
from pathlib import Path
from openspot.kit.alone import alone
with alone(Path(sys.argv[1]), "a child"):
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-c", HOLDS, str(tmp_path / "work.lock")])
    yield child
    child.kill()
    child.wait()


async def test_others_are_refused_and_see_who_it_is_until_the_holder_is_killed(
    tmp_path: Path, holder: subprocess.Popen[bytes]
) -> None:
    path = tmp_path / "work.lock"
    await eventually(lambda: (begun := under_way(path)) is not None and begun.by == "a child", 60)
    with pytest.raises(BusyError, match="another process holds"), alone(path, "me", wait_s=0):
        raise AssertionError("it was held twice")
    begun = under_way(path)
    assert begun is not None and begun.by == "a child" and abs(begun.at / 1000 - time.time()) < 600
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert under_way(path) is None
    with alone(path, "me", wait_s=0) as mine:
        assert under_way(path) == mine == Begun("me", mine.at)
    assert under_way(path) is None


def test_a_lock_that_somebody_only_looks_at_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "work.lock"
    path.touch()
    looker = path.open("rb")
    fcntl.flock(looker, fcntl.LOCK_SH)
    monkeypatch.setattr(alone_module, "time", SimpleNamespace(**vars(time) | {"sleep": lambda _: looker.close()}))
    with alone(path, "me", wait_s=60) as begun:
        assert begun.by == "me"
    assert looker.closed
    assert BRIEFLY_S > 0, "without a wait, a look at the moment of the start would end the work"


def test_one_that_waits_gets_it_when_the_other_has_ended(tmp_path: Path) -> None:
    path, order = tmp_path / "work.lock", []

    def wait_for_it() -> None:
        with alone(path, "second", wait_s=60):
            order.append("second")

    with alone(path, "first"):
        waiting = threading.Thread(target=wait_for_it)
        waiting.start()
        order.append("first")
    waiting.join()
    assert order == ["first", "second"]


@pytest.mark.parametrize("content", [b"", b"{", b'{"by": 1}', json.dumps({"by": "x"}).encode()])
def test_a_holder_whose_name_cannot_be_read_is_one_all_the_same(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "work.lock"
    with alone(path, "me"):
        path.write_bytes(content)
        assert under_way(path) == Begun("", 0)


def test_nobody_works_where_there_is_no_file(tmp_path: Path) -> None:
    assert under_way(tmp_path / "none.lock") is None
    with pytest.raises(FileNotFoundError), alone(tmp_path / "gone" / "work.lock", "me"):
        raise AssertionError("it was held")
    with alone(tmp_path / "work.lock", "me"):
        assert (tmp_path / "work.lock").stat().st_mode & 0o777 == 0o600
