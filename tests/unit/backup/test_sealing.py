"""Objects: named by their content, compressed, sealed with the key."""

from pathlib import Path

import pytest

from openspot.backup.errors import BackupError
from openspot.backup.sealing import Seal, make_key_file, read_seal

PLAIN = b"content " * 100


@pytest.mark.parametrize("seal", [Seal(), Seal(b"k" * 32)], ids=["plain", "sealed"])
def test_an_object_is_opened_under_its_own_name_alone(seal: Seal) -> None:
    name = seal.name_of(PLAIN)
    stored = seal.pack(PLAIN, name)
    assert seal.open(stored, name) == PLAIN
    with pytest.raises(BackupError, match="is damaged"):
        seal.open(stored, seal.name_of(b"another"))
    with pytest.raises(BackupError, match="is damaged"):
        seal.open(stored[:-1], name)


def test_without_the_key_neither_content_nor_names_say_anything() -> None:
    sealed, other = Seal(b"k" * 32), Seal(b"x" * 32)
    name = sealed.name_of(PLAIN)
    assert len({name, other.name_of(PLAIN), Seal().name_of(PLAIN)}) == 3
    assert len({sealed.key_id, other.key_id, Seal().key_id}) == 3
    with pytest.raises(BackupError, match="is damaged"):
        other.open(sealed.pack(PLAIN, name), name)
    assert sealed.signature(b"manifest") != other.signature(b"manifest")


def test_a_key_file_is_made_once_and_a_wrong_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "key"
    make_key_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read_seal(str(path)).key_id == read_seal(str(path)).key_id != ""
    with pytest.raises(FileExistsError):
        make_key_file(path)
    path.write_text("c2hvcnQ=", "ascii")
    with pytest.raises(BackupError, match=r"OPENSPOT_BACKUP_KEY_FILE: .* holds no key of 32 bytes"):
        read_seal(str(path))
    with pytest.raises(BackupError, match=r"OPENSPOT_BACKUP_KEY_FILE: the key .* cannot be read"):
        read_seal(str(tmp_path / "none"))
    assert read_seal("").key_id == ""
