"""What a power cut leaves of a NATS server: pages that the kernel has not written to the disk yet are gone."""

import ctypes
import os
import shutil
from pathlib import Path

import pytest

from openspot.up.embedded_nats import EmbeddedNats
from tests.support.suspension import frozen

_CACHESTAT = 451
"""Number of the system call cachestat(2), the same on every architecture. Linux has it since 6.5."""


class _Range(ctypes.Structure):
    _fields_ = (("offset", ctypes.c_uint64), ("length", ctypes.c_uint64))


class _Pages(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64) for name in ("cached", "dirty", "writeback", "evicted", "recently_evicted")
    )


class UnknownPagesError(Exception):
    """This kernel does not tell which pages are dirty."""


def after_power_cut(server: EmbeddedNats, copy: Path) -> EmbeddedNats:
    """Cut the power of a server. Returns a server on the same port that starts from what the disk then holds.

    Skips the test if this kernel does not tell what the disk holds.
    """
    assert server.process is not None
    try:
        with frozen(server.process.pid):
            image(server.directory / "jetstream", copy / "jetstream")
    except UnknownPagesError as error:
        pytest.skip(f"this kernel does not tell which pages are on the disk: {error}")
    finally:
        server.kill()
    return EmbeddedNats(copy, server.port)


def image(folder: Path, copy: Path) -> int:
    """Copy `folder` as a power cut would leave it now. Returns how many pages that loses.

    A lost page is zero, and a file ends before the lost pages at its end. So a page that was changed since it was
    last on the disk is lost altogether, which is worse than most power cuts. Nobody may write meanwhile.

    Raises UnknownPagesError.
    """
    shutil.rmtree(copy, ignore_errors=True)
    lost = 0
    for path in sorted(folder.rglob("*")):
        target = copy / path.relative_to(folder)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        elif path.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            lost += _copy_clean_pages(path, target)
    return lost


def _copy_clean_pages(path: Path, target: Path) -> int:
    size = os.sysconf("SC_PAGE_SIZE")
    kept = bytearray()
    clean_end = lost = 0
    with path.open("rb") as file:
        length = os.fstat(file.fileno()).st_size
        for offset in range(0, length, size):
            page = os.pread(file.fileno(), size, offset)
            if _is_on_disk(file.fileno(), offset, len(page)):
                kept += page
                clean_end = len(kept)
            else:
                kept += bytes(len(page))
                lost += 1
    target.write_bytes(kept[:clean_end])
    return lost


def _is_on_disk(descriptor: int, offset: int, length: int) -> bool:
    pages = _Pages()
    libc = ctypes.CDLL(None, use_errno=True)
    wanted = _Range(offset, length)
    if libc.syscall(_CACHESTAT, descriptor, ctypes.byref(wanted), ctypes.byref(pages), 0) != 0:
        raise UnknownPagesError(os.strerror(ctypes.get_errno()))
    return not pages.dirty and not pages.writeback
