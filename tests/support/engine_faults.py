"""Faults for an engine in a child process: Python code that the child runs first, and damage to its files."""

from pathlib import Path

from openspot.engine.engine import JOURNAL, journal_path
from openspot.kit.settings import Settings

FULL_DISK = """
from openspot.engine.journal.journal import Journal
_open = Journal._open
def _open_with_little_room(self):
    _open(self)
    pages = self._connection.execute("PRAGMA page_count").fetchone()[0]
    self._connection.execute(f"PRAGMA max_page_count = {pages + 6}")
Journal._open = _open_with_little_room
"""
FULL_EVENT_STORE = """
from openspot.engine.stream.event_store import EventStore
_append = EventStore.append
def _append_little(self, batches, keep):
    if self.last_sequence > 1:
        self._writer.execute("PRAGMA max_page_count = 1")
    _append(self, batches, keep)
EventStore.append = _append_little
"""
FAILING_DISK = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
"""

_DYING = """
import os, signal
_flag = EngineSettings().data_dir / "die"
def die_if_told():
    if _flag.exists():
        _flag.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
"""
KILLED_BEFORE_COMMIT = f"""{_DYING}
from openspot.engine.journal.journal import Journal
_append = Journal.append
def _die_and_append(self, *arguments):
    die_if_told()
    return _append(self, *arguments)
Journal.append = _die_and_append
"""
KILLED_AFTER_COMMIT = f"""{_DYING}
from openspot.engine.journal.journal import Journal
_append = Journal.append
def _append_and_die(self, *arguments):
    checksum = _append(self, *arguments)
    die_if_told()
    return checksum
Journal.append = _append_and_die
"""
KILLED_AFTER_APPLY = f"""{_DYING}
from openspot.engine.state.state_machine import StateMachine
_apply = StateMachine.apply
def _apply_and_die(self, *arguments):
    applied = _apply(self, *arguments)
    die_if_told()
    return applied
StateMachine.apply = _apply_and_die
"""
BROKEN_STATE = f"""{_DYING}
from openspot.engine.state.state_machine import StateMachine
_apply = StateMachine.apply
def _forget_holds_and_apply(self, *arguments):
    if _flag.exists():
        _flag.unlink()
        for account in self.core._state.accounts.values():
            account.held.clear()
    return _apply(self, *arguments)
StateMachine.apply = _forget_holds_and_apply
"""
"""Not death: the state of the reference core loses every hold."""
KILLED_IN_HALF_A_SNAPSHOT = f"""{_DYING}
_fsync = os.fsync
def _tear_and_die(descriptor):
    if _flag.exists():
        os.ftruncate(descriptor, os.fstat(descriptor).st_size // 2)
        die_if_told()
    _fsync(descriptor)
os.fsync = _tear_and_die
"""
KILLED_BEFORE_A_SNAPSHOT_IS_RENAMED = f"""{_DYING}
_fsync = os.fsync
def _fsync_and_die(descriptor):
    _fsync(descriptor)
    die_if_told()
os.fsync = _fsync_and_die
"""
KILLED_AFTER_A_SNAPSHOT_IS_RENAMED = f"""{_DYING}
from openspot.engine.journal import snapshots
_sync_folder = snapshots.sync_folder
def _die_and_sync(folder):
    die_if_told()
    _sync_folder(folder)
snapshots.sync_folder = _die_and_sync
"""


def tell_to_die(settings: Settings) -> None:
    """Make the child kill itself with kill -9 at the next point that its KILLED_… code names."""
    (settings.data_dir / "die").touch()


def wal_path(settings: Settings) -> Path:
    """The write-ahead log of the journal."""
    return journal_path(settings).with_name(JOURNAL + "-wal")


def flip(path: Path, offset: int) -> None:
    """Change one byte of a file. A negative offset counts from the end."""
    content = bytearray(path.read_bytes())
    content[offset] ^= 0xFF
    path.write_bytes(content)


def tear(settings: Settings, kept: int) -> None:
    """Append the first `kept` bytes of an unfinished commit to the write-ahead log."""
    content = wal_path(settings).read_bytes()
    wal_path(settings).write_bytes(content + content[-4096:][:kept])
