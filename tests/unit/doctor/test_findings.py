"""Each thing that can be wrong leads to its line, with its level; where nothing is wrong, nothing is said."""

import dataclasses
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from openspot.backup.sealing import make_key_file
from openspot.doctor import places
from openspot.doctor.backups import backup_findings
from openspot.doctor.configuration import setting_findings
from openspot.doctor.findings import Finding, Level, exit_code
from openspot.doctor.machine import GIBIBYTE, Machine, findings_of, is_clock_synchronised, this_machine
from openspot.doctor.places import (
    directory_findings,
    disk_findings,
    port_findings,
    secret_findings,
    space_finding,
    sync_finding,
)
from openspot.doctor.restarts import restart_findings
from openspot.kit.backup_outcome import LAST, note_backup, note_failure
from openspot.kit.disk import MEBIBYTE, DiskSpace
from openspot.kit.process_ends import ProcessEnd, note_end
from openspot.up.interpreter import SLOW_BUILD
from openspot.up.services import PlatformSettings

GOOD = Machine(
    slow_build=None, core="rust", core_fault="", cores=4, memory=8 * GIBIBYTE, memory_free=4 * GIBIBYTE,
    files_max=65_536, processes_max=4096, connections_waiting_max=4096, shared_memory=GIBIBYTE,
    is_clock_synchronised=True,
)  # fmt: skip
FINE = {
    "smtp_host": "mail.example", "mail_from": "A <a@example.org>", "custody_reference_prices": "BTC=1",
}  # fmt: skip
PUBLIC = {"rest_host": "0.0.0.0", "trusted_proxies": "10.0.0.1"}


def bad(findings: Any) -> list[tuple[str, str, str]]:
    """Level, name and line of everything that is not fine."""
    return [(each.level.value, each.name, each.line) for each in findings if each.level is not Level.FINE]


def settings(**given: Any) -> Any:
    """Settings with which nothing is wrong, and the given ones."""
    return PlatformSettings(**FINE | given)


def test_a_good_machine_has_no_finding_that_is_not_fine() -> None:
    assert bad(findings_of(GOOD)) == []
    unknown = dataclasses.replace(
        GOOD, files_max=None, processes_max=None, connections_waiting_max=None, shared_memory=None,
        is_clock_synchronised=None,
    )  # fmt: skip
    assert bad(findings_of(unknown)) == []
    assert list(findings_of(this_machine()))
    assert is_clock_synchronised() in (True, False, None)


@pytest.mark.parametrize(
    ("change", "level", "name", "words"),
    [
        ({"slow_build": SLOW_BUILD}, "warning", "python", "built without --enable-optimizations and is slow; install"),
        ({"core": "reference"}, "warning", "core", "the engine runs the Python core"),
        ({"core_fault": "no symbol"}, "problem", "core", "the Rust core does not load: no symbol; build it again"),
        ({"cores": 1}, "warning", "processors", "one processor core; give it two"),
        ({"memory": 2 * GIBIBYTE - 1}, "warning", "memory", "2.0 GiB of memory; give it 2 GiB"),
        ({"memory_free": GIBIBYTE // 2 - 1}, "problem", "memory", "0.5 GiB of 8.0 GiB memory are free; end other"),
        ({"files_max": 65_535}, "warning", "open-files", "a process may open 65,535 files"),
        ({"files_max": 4095}, "problem", "open-files", "a process may open 4,095 files"),
        ({"processes_max": 1023}, "warning", "processes", "this account may have 1,023 processes"),
        ({"connections_waiting_max": 128}, "warning", "connections", "lets 128 new connections wait; set net.core"),
        ({"shared_memory": 64 << 20}, "problem", "shared-memory", "/dev/shm has 64 MiB; give the container"),
        ({"is_clock_synchronised": False}, "warning", "clock", "its clock is not synchronised; run chrony"),
    ],
)
def test_each_fault_of_a_machine_has_its_line(change: dict[str, Any], level: str, name: str, words: str) -> None:
    ((found_level, found_name, line),) = bad(findings_of(dataclasses.replace(GOOD, **change)))
    assert (found_level, found_name) == (level, name)
    assert words in line


def test_good_settings_have_no_finding_that_is_not_fine() -> None:
    assert bad(setting_findings(settings())) == []
    assert bad(setting_findings(settings(**PUBLIC))) == []


@pytest.mark.parametrize(
    ("given", "level", "name", "words"),
    [
        ({"engine_host": "0.0.0.0", "trusted_proxies": "::1"}, "problem", "exposure", "opens the matching engine's"),
        (PUBLIC | {"trusted_proxies": ""}, "warning", "exposure", "without a proxy, so passwords and tokens cross"),
        (PUBLIC | {"throttle_enabled": False}, "problem", "exposure", "OPENSPOT_THROTTLE_ENABLED=false"),
        (PUBLIC | {"trusted_network": True}, "warning", "exposure", "OPENSPOT_TRUSTED_NETWORK=true lets engine"),
        ({"throttle_enabled": False}, "warning", "settings", "OPENSPOT_THROTTLE_ENABLED=false: a client may"),
        ({"volatility_move_bps": 5}, "warning", "settings", "OPENSPOT_VOLATILITY_MOVE_BPS has no effect"),
        ({"embedded_postgres_synced": False}, "problem", "settings", "OPENSPOT_EMBEDDED_POSTGRES_SYNCED=false"),
        ({"nats_url": "nats://127.0.0.1:1"}, "warning", "settings", "the bus of NATS_URL may acknowledge what a power"),
        ({"bus_replicas": 3}, "problem", "settings", "OPENSPOT_BUS_REPLICAS=3, and the embedded bus is one server"),
        ({"database_url": "postgresql://a@10.9.9.9/b"}, "warning", "settings", "without `sslmode=`"),
        ({"jwt_secret": "a" * 64}, "problem", "secret-lengths", "JWT_SECRET can be guessed; set one with 32 random"),
        ({"jwt_secret": "short-but-random"}, "problem", "secret-lengths", "JWT_SECRET can be guessed"),
        ({"smtp_host": ""}, "warning", "mail", "mails go to a file"),
        ({"smtp_security": "none", "smtp_host": "10.9.9.9"}, "problem", "mail", "cross the network unencrypted"),
        ({"mail_from": "A <a@b.invalid>"}, "warning", "mail", "which no server takes"),
        (PUBLIC | {"demo": True}, "warning", "demo", "the demo market runs on an address that others reach"),
        (PUBLIC | {"custody_reference_prices": PlatformSettings().custody_reference_prices}, "warning",
         "reference-prices", "are those for development"),
    ],
)  # fmt: skip
def test_each_fault_of_settings_has_its_line(given: dict[str, Any], level: str, name: str, words: str) -> None:
    found = bad(setting_findings(settings(**given)))
    assert {(found_level, found_name) for found_level, found_name, _ in found} == {(level, name)}
    assert any(words in line for _, _, line in found), found
    assert len(set(found)) == len(found)


def test_a_data_directory_is_judged_by_owner_and_permissions(tmp_path: Path) -> None:
    own = tmp_path / "own"
    assert bad(directory_findings(own)) == []
    own.mkdir(mode=0o700)
    assert bad(directory_findings(own)) == []
    own.chmod(0o750)
    assert bad(directory_findings(own)) == [("problem", "data-directory", f"{own} is open to other accounts; "
                                             f"`chmod 700 {own}`")]  # fmt: skip
    if os.geteuid() == 0:
        os.chown(own, 1, 1)
        assert f"{own} belongs to account 1" in bad(directory_findings(own))[0][2]


def test_the_disk_is_judged_by_space_kind_and_speed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full, low = (
        space_finding(DiskSpace(tmp_path, free * MEBIBYTE, 100_000 * MEBIBYTE, 64 * MEBIBYTE)) for free in (63, 1000)
    )
    assert (full.level, low.level) == (Level.PROBLEM, Level.WARNING)
    assert "is full (63 MiB of 100000 MiB are free)" in full.text
    assert [sync_finding(ms).level for ms in (20, 20.1, 200, 200.1)] == [
        Level.FINE, Level.WARNING, Level.WARNING, Level.PROBLEM]  # fmt: skip
    monkeypatch.setattr(places, "file_system_of", lambda _: "tmpfs")
    assert ("problem", "disk-kind") in {each[:2] for each in bad(disk_findings(tmp_path, 64))}
    monkeypatch.setattr(places, "file_system_of", lambda _: "nfs4")
    assert ("warning", "disk-kind") in {each[:2] for each in bad(disk_findings(tmp_path, 64))}
    before = list(tmp_path.iterdir())
    assert {each.name for each in disk_findings(tmp_path, 64)} >= {"disk-space", "disk-sync"}
    assert list(tmp_path.iterdir()) == before
    assert {each.name for each in disk_findings(tmp_path / "none/deep", 64)} >= {"disk-space"}
    assert not (tmp_path / "none").exists()


def test_secrets_that_others_can_read_and_damaged_ones_are_named(tmp_path: Path) -> None:
    key = tmp_path / "key"
    make_key_file(key)
    given = settings(data_dir=tmp_path, backup_key_file=str(key))
    assert bad(secret_findings(given)) == []
    key.chmod(0o640)
    secrets = tmp_path / "secrets.json"
    secrets.write_text("{", "utf-8")
    secrets.chmod(0o604)
    lines = [line for _, _, line in bad(secret_findings(given))]
    assert f"other accounts can read {secrets}; `chmod 600 {secrets}`" in lines
    assert f"other accounts can read {key}; `chmod 600 {key}`" in lines
    assert any("secrets.json is damaged" in line for line in lines)


def test_a_port_that_is_taken_is_named_with_its_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        found = bad(port_findings(settings(web_port=port)))
    assert f"port {port} (Web server, pages) is taken; free it, or set OPENSPOT_WEB_PORT" in [each[2] for each in found]


def test_backups_are_judged_by_age_outcome_place_and_key(tmp_path: Path) -> None:
    key = tmp_path / "key"
    make_key_file(key)
    bucket = {"backup_dir": "s3://bucket", "backup_s3_endpoint": "https://s3.example"}
    data = tmp_path / "data"
    data.mkdir()

    def found(**given: Any) -> set[tuple[str, str]]:
        chosen = {"data_dir": data, "backup_key_file": str(key)} | bucket | given
        return {each[:2] for each in bad(backup_findings(settings(**chosen)))}

    assert found() == {("warning", "backup")}
    note_backup(data, "b", "then")
    assert found() == set()
    assert found(backup_key_file="") == {("warning", "backup-key")}
    assert found(backup_key_file=str(data)) == {("problem", "backup-key")}
    assert found(backup_dir="") == {("warning", "backup-place")}
    assert found(backup_s3_endpoint="http://10.9.9.9:9000") == {("problem", "backup-place")}
    assert found(backup_s3_endpoint="http://127.0.0.1:9000") == set()
    assert found(backup_s3_access_key="half") == {("problem", "backup-place")}
    note_failure(data, "no space")
    assert found() == {("problem", "backup")}
    note_backup(data, "b", "then")
    (data / LAST).write_text(f'{{"time": {time.time() - 2 * 86_400 - 60}}}', "utf-8")
    assert found() == {("problem", "backup")}
    assert found(backup_every_s=86_400 * 7) == set()


def test_processes_that_ended_by_themselves_within_a_day_are_named(tmp_path: Path) -> None:
    now_ms = time.time_ns() // 1_000_000

    def end(process: str, hours: float, *, is_asked: bool = False) -> None:
        at_ms = round(now_ms - hours * 3_600_000)
        note_end(tmp_path, ProcessEnd(process, process.title(), at_ms, f"signal {hours}", is_asked=is_asked))

    end("ledger", 25)
    end("router", 1, is_asked=True)
    assert bad(restart_findings(tmp_path)) == []
    end("ledger", 23)
    for hours in (3, 2, 1):
        end("rest-edge+router", hours)
    assert bad(restart_findings(tmp_path)) == [
        (
            "warning",
            "restarts",
            "Ledger ended by itself once within a day, at last with signal 23; `openspot logs ledger` shows why",
        ),
        (
            "problem",
            "restarts",
            "Rest-Edge+Router ended by itself 3 times within a day, at last with signal 1; `openspot logs rest-edge`"
            " shows why",
        ),
    ]


def test_a_problem_ends_with_exit_code_1_and_a_warning_does_not() -> None:
    fine, warning, problem = (Finding("x", level, "text") for level in Level)
    assert (exit_code([fine, warning]), exit_code([fine, problem])) == (0, 1)
