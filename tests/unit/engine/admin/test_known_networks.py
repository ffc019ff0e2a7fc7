"""Networks from which participants have logged in."""

import stat
from pathlib import Path

import pytest

from openspot.engine.admin import known_networks
from openspot.engine.admin.known_networks import FILE_NAME, KnownNetworks


def test_a_network_is_known_for_its_participant_after_a_restart(tmp_path: Path) -> None:
    known = KnownNetworks(tmp_path)
    known.add("admin", "203.0.113.9")
    for networks in (known, KnownNetworks(tmp_path)):
        assert networks.holds("admin", "203.0.113.9")
        assert not networks.holds("other", "203.0.113.9")
        assert not networks.holds("admin", "203.0.113.10")
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


def test_the_oldest_are_forgotten_beyond_the_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_networks, "NETWORKS_MAX", 2)
    monkeypatch.setattr(known_networks, "PARTICIPANTS_MAX", 2)
    known = KnownNetworks(tmp_path)
    for participant in ("a", "b", "c"):
        for network in ("1", "2", "3"):
            known.add(participant, network)
    assert [known.holds("c", network) for network in ("1", "2", "3")] == [False, True, True]
    assert [known.holds(participant, "3") for participant in ("a", "b", "c")] == [False, True, True]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"admin": 5}', '{"admin": [5]}', "\x00"])
def test_an_unreadable_file_is_replaced(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE_NAME).write_text(content)
    known = KnownNetworks(tmp_path)
    assert not known.holds("admin", "1")
    known.add("admin", "1")
    assert KnownNetworks(tmp_path).holds("admin", "1")


def test_a_failed_write_prevents_no_login(tmp_path: Path) -> None:
    known = KnownNetworks(tmp_path / "missing")
    known.add("admin", "1")
    assert known.holds("admin", "1")
