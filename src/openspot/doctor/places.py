"""The data directory, its disk, the secrets in it, and the ports of the services."""

import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from openspot.doctor.findings import Finding, fine, or_fine, problem, warning
from openspot.kit.disk import MEBIBYTE, DiskSpace, DiskState, space_of
from openspot.kit.secrets_file import FILE_NAME as SECRETS
from openspot.kit.secrets_file import SecretsFileError, with_known_secrets
from openspot.kit.settings import variable
from openspot.up.embedded_nats import port_is_free
from openspot.up.services import enabled
from openspot.up.state import FILE_NAME as STATE

SYNCS = 20
SYNC_MS_SLOW = 20.0
SYNC_MS_TOO_SLOW = 200.0
_BLOCK = 4096
_IN_MEMORY = ("tmpfs", "ramfs")
_OVER_THE_NETWORK = ("nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "fuse.s3fs", "fuse.glusterfs")


def directory_findings(data_dir: Path) -> Iterator[Finding]:
    """Whether a data directory belongs to this account alone."""
    try:
        status = data_dir.stat()
    except FileNotFoundError:
        yield fine("data-directory", f"{data_dir} is made at the first start")
        return
    except OSError as error:
        yield problem("data-directory", f"{data_dir} cannot be read: {error.strerror}", "set OPENSPOT_DATA_DIR")
        return
    if status.st_uid != os.geteuid():
        yield problem("data-directory", f"{data_dir} belongs to account {status.st_uid}", "run OpenSpot as that "
                      "account, or set OPENSPOT_DATA_DIR to a folder of your own")  # fmt: skip
    elif status.st_mode & 0o077:
        yield problem("data-directory", f"{data_dir} is open to other accounts", f"`chmod 700 {data_dir}`")
    else:
        yield fine("data-directory", f"{data_dir} belongs to this account alone")


def disk_findings(data_dir: Path, reserve_mib: int) -> Iterator[Finding]:
    """Space, kind and speed of the disk of a data directory."""
    folder = next(each for each in (data_dir, *data_dir.parents) if each.is_dir())
    try:
        yield space_finding(space_of(folder, reserve_mib * MEBIBYTE))
    except OSError as error:
        yield problem("disk-space", f"the disk of {folder} cannot be read: {error.strerror}", "mount it")
    kind = file_system_of(folder)
    if kind in _IN_MEMORY:
        yield problem("disk-kind", f"{folder} is in memory ({kind})", "move the data directory to a disk: a restart of "
                      "the machine loses it")  # fmt: skip
    elif kind in _OVER_THE_NETWORK:
        yield warning("disk-kind", f"{folder} is on the network ({kind})", "use a disk of this machine: locks and "
                      "syncs of network disks are often not real")  # fmt: skip
    # Before the first start there is no folder of ours to try it in.
    if data_dir.is_dir():
        try:
            yield sync_finding(sync_ms(data_dir))
        except OSError as error:
            yield problem("disk-sync", f"{data_dir} cannot be written: {error.strerror}", "make room, or mount it "
                          "writable")  # fmt: skip


def space_finding(space: DiskSpace) -> Finding:
    """What the space on a disk means."""
    if space.state is DiskState.OK:
        return fine("disk-space", f"{space.free // MEBIBYTE:,} MiB of {space.total // MEBIBYTE:,} MiB are free")
    make = warning if space.state is DiskState.LOW else problem
    return make("disk-space", space.message, "add space, or let `openspot archive` move old rows away")


def sync_finding(milliseconds: float) -> Finding:
    """What the time of a sync means: each batch of commands waits for one."""
    text = f"a sync of the data directory's disk takes {milliseconds:.1f} ms"
    remedy = "every order waits for one: use a local SSD, and nothing else on it"
    if milliseconds > SYNC_MS_TOO_SLOW:
        return problem("disk-sync", text, remedy)
    return warning("disk-sync", text, remedy) if milliseconds > SYNC_MS_SLOW else fine("disk-sync", text)


def sync_ms(folder: Path) -> float:
    """The median time of a write of 4 KiB with its sync, in a file without a name. Raises OSError."""
    times = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(SYNCS):
            began = time.perf_counter()
            os.write(file.fileno(), bytes(_BLOCK))
            os.fsync(file.fileno())
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def file_system_of(folder: Path) -> str:
    """The kind of file system that holds a folder; empty if the system does not tell."""
    resolved = folder.resolve()
    try:
        mounts = {Path(part.mountpoint): part.fstype for part in psutil.disk_partitions(all=True)}
    except (psutil.Error, OSError):
        return ""
    return next((mounts[each] for each in (resolved, *resolved.parents) if each in mounts), "")


def secret_findings(settings: Any) -> Iterator[Finding]:
    """Whether others can read the files with secrets, and whether they can be used."""
    files = [settings.data_dir / SECRETS, settings.data_dir / STATE]
    files += [Path(name) for name in (settings.backup_key_file, settings.nats_credentials_file) if name]
    yield from or_fine("secrets", "nobody else can read the files with secrets", _open_files(files))
    try:
        with_known_secrets(settings)
    except SecretsFileError as error:
        yield problem("secrets", str(error), "a backup has it, too")
    except OSError as error:
        yield problem("secrets", f"{settings.data_dir / SECRETS} cannot be read: {error.strerror}", "run OpenSpot as "
                      "the account that made it")  # fmt: skip


def _open_files(files: list[Path]) -> Iterator[Finding]:
    for path in files:
        try:
            mode = path.stat().st_mode
        except OSError:
            continue
        if mode & 0o077:
            yield problem("secrets", f"other accounts can read {path}", f"`chmod 600 {path}`")


def port_findings(settings: Any) -> Iterator[Finding]:
    """Whether the ports are free that `openspot up` needs. Not to be asked while it runs."""
    yield from or_fine("ports", "the ports of the services are free", _taken_ports(settings))


def _taken_ports(settings: Any) -> Iterator[Finding]:
    for service in enabled(settings).values():
        for listener in service.listeners:
            port = getattr(settings, listener.setting)
            if not port_is_free(port, service.listening_host(settings)):
                yield problem("ports", f"port {port} ({service.title}, {listener.purpose}) is taken",
                              f"free it, or set {variable(listener.setting, type(settings))}")  # fmt: skip
