"""Backups in S3 storage: a real server, a backup killed in the middle, and every fault that a server can have."""

import re
import time
from collections.abc import Iterator
from typing import Any

import pytest

from openspot.backup import s3
from openspot.backup.errors import BackupError
from openspot.backup.manifest import Place
from openspot.backup.s3 import RETRIES, S3Storage
from openspot.backup.sealing import Seal
from openspot.backup.storage import StorageError
from openspot.backup.verify import verify
from openspot.kit.backup_outcome import backup_outcome
from tests.integration.backup.test_backup import KilledError, Killer
from tests.support.backups import BackupSite, state_at
from tests.support.bus_accounts import BusAccounts
from tests.support.mirrored_market import MirroredMarket
from tests.support.s3_server import PAGE, S3Server, s3_server

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    """A server of S3 storage."""
    with s3_server() as made:
        yield made


@pytest.fixture
def storage(server: S3Server, request: pytest.FixtureRequest) -> S3Storage:
    """A prefix of the bucket for one test."""
    server.fail(0, "", "")
    return server.storage(prefix_of(request))


def prefix_of(request: pytest.FixtureRequest) -> str:
    """A prefix that no other test has."""
    return "some/where/" + re.sub(r"\W", "-", request.node.name)


def test_objects_are_listed_over_pages_read_replaced_and_removed(storage: S3Storage) -> None:
    names = [f"objects/{number:02}/{number}" for number in range(2 * PAGE + 1)]
    for name in names:
        storage.write(name, name.encode())
    storage.write(names[0], b"replaced")
    storage.write("backups/one.json", b"{}")
    assert storage.sizes("objects") == {name: 8 if name == names[0] else len(name) for name in names}
    assert storage.read(names[0], 8) == b"replaced"
    with pytest.raises(StorageError, match="has 8 bytes, more than 7"):
        storage.read(names[0], 7)
    storage.remove(names[1:])
    storage.remove(names[1:])
    assert list(storage.sizes("objects")) == names[:1]
    with pytest.raises(FileNotFoundError, match=r"does not give objects/01/1: 404 Not Found, NoSuchKey"):
        storage.read(names[1], 10)
    with pytest.raises(FileExistsError, match=r"backups/one.json is there already"):
        storage.write_new("backups/one.json", b"[]")


async def test_a_backup_that_is_killed_in_the_middle_counts_for_nothing_and_the_next_is_restored(
    market: MirroredMarket, site: BackupSite, storage: S3Storage, bus_accounts: BusAccounts, tmp_path: Any
) -> None:
    site.storage = storage
    site.seal = Seal(b"k" * 32)
    await market.trade(2)
    assert await market.differences() == []
    steps = Killer()
    first = await site.back_up(market.settings, step=steps)
    for number in range(1, len(steps.steps), 2):
        with pytest.raises(KilledError):
            await site.back_up(market.settings, step=Killer(number))
        assert site.place.names() == [first.name]
    await market.trade(1)
    made = await site.back_up(market.settings, keep=1)
    # Objects of the killed ones and of the one that was removed are gone.
    objects = {name.rpartition("/")[2] for name in storage.sizes("objects")}
    assert objects == {piece.name for file in made.all_files for piece in file.pieces}
    assert verify(site.place, made.name).problems == []
    restored, _ = await site.restore(tmp_path / "restored", bus_accounts.next_url())
    assert (restored.event, restored.state_hash) == state_at(market.settings, made.journal.last)

    lost = next(iter(storage.sizes("objects")))
    storage.remove([lost])
    problems = verify(site.place, made.name).problems
    assert any("cannot be read" in problem and "404 Not Found" in problem for problem in problems)
    with pytest.raises(BackupError, match=r"cannot be read: s3://backups/.*404 Not Found"):
        await site.restore(tmp_path / "again", bus_accounts.next_url())
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("how", ["500", "429", "slow"])
def test_a_request_that_fails_is_sent_again_and_not_for_ever(
    server: S3Server, storage: S3Storage, how: str, request: pytest.FixtureRequest
) -> None:
    hasty = server.storage(prefix_of(request), timeout_s=0.5)
    server.fail(2, "PUT", how)
    hasty.write("objects/aa/a", b"content")
    assert storage.read("objects/aa/a", 100) == b"content"
    server.fail(10 * RETRIES, "PUT", how)
    began = time.monotonic()
    with pytest.raises(StorageError, match=r"s3://backups/.* does not take objects/aa/b: ."):
        hasty.write("objects/aa/b", b"content")
    assert time.monotonic() - began < 60
    server.fail(0, "", "")
    assert list(hasty.sizes("objects")) == ["objects/aa/a"]


def test_a_manifest_whose_answer_was_lost_is_not_taken_for_another_ones(server: S3Server, storage: S3Storage) -> None:
    server.fail(1, "PUT", "lost")
    storage.write_new("backups/one.json", b"{}")
    assert storage.read("backups/one.json", 10) == b"{}"


def test_a_storage_without_conditional_writes_gets_an_ordinary_one(server: S3Server, storage: S3Storage) -> None:
    server.fail(1, "PUT", "501")
    storage.write_new("backups/one.json", b"{}")
    assert storage.read("backups/one.json", 10) == b"{}"


async def test_wrong_keys_and_a_missing_bucket_are_named_and_no_secret_is(
    market: MirroredMarket,
    site: BackupSite,
    server: S3Server,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(s3, "RETRIES", 0)
    for given, reason in (
        ({"secret_key": "wrong-secret"}, "403 Forbidden, SignatureDoesNotMatch"),
        ({"access_key": "AKIAWRONG", "secret_key": "wrong-secret"}, "403 Forbidden, InvalidAccessKeyId"),
        ({"endpoint": "http://127.0.0.1:9"}, "error sending request, Connection refused"),
    ):
        site.storage = server.storage("x", **given)
        with pytest.raises(BackupError, match=reason) as found:
            await site.back_up(market.settings)
        assert "wrong-secret" not in f"{found.value!r} {found.value.__cause__!r} {site.storage!r}" + caplog.text
        assert reason in backup_outcome(market.settings.data_dir).reason
    missing = Place(S3Storage("no-bucket", "x", region="us-east-1", endpoint=server.url,
                              access_key=server.access_key, secret_key=server.secret_key), Seal())  # fmt: skip
    with pytest.raises(BackupError, match=r"s3://no-bucket/x cannot be listed: .*404 Not Found, NoSuchBucket"):
        missing.names()
