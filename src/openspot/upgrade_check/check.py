"""The check of an upgrade as a whole."""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from openspot.engine.engine import journal_path
from openspot.engine.journal.rows import FORMAT
from openspot.kit.secrets_file import FILE_NAME as SECRETS
from openspot.kit.settings import PREFIX, Settings, generated_secrets, variable
from openspot.up.embedded_postgres import EmbeddedPostgres
from openspot.up.exposure import dangers
from openspot.up.services import PlatformSettings, enabled
from openspot.up.state import running_state, settings_of_running
from openspot.upgrade_check.databases import Step, check_database, copies, platform_kept_away, require_space
from openspot.upgrade_check.journal import check_journal, copy_journal
from openspot.upgrade_check.report import DatabaseChecked, JournalChecked, UpgradeCheckError, UpgradeReport

SCRATCH = ".upgrade-check"
"""The ending of the folder in which a check works, beside the data directory."""


def check_upgrade(given: Settings, scratch: Path | None = None, step: Step = lambda _: None) -> UpgradeReport:
    """Try the upgrade of the data directory and the databases of these settings. Changes nothing of them.

    `scratch` is the folder in which it works, which is made and removed. Raises UpgradeCheckError.
    """
    began = time.perf_counter()
    data_dir = given.data_dir.resolve()
    if not data_dir.is_dir():
        raise UpgradeCheckError(
            f"there is no data directory {data_dir}: set OPENSPOT_DATA_DIR to that of the old release"
        )
    state = running_state(data_dir)
    settings: Any = settings_of_running(given)
    try:
        with _scratch_folder(scratch or data_dir.with_name(data_dir.name + SCRATCH)) as folder:
            step("replaying the journal")
            path = journal_path(settings)
            if state is None and path.exists():
                with platform_kept_away(data_dir):
                    require_space(folder, sum(each.stat().st_size for each in path.parent.rglob("*")))
                    path = copy_journal(path, folder / path.parent.name)
            journal, problems = check_journal(path, settings.engine_core)
            checked = []
            with copies(settings, folder, step) as (urls, needed):
                for name, url in urls.items():
                    database, found = check_database(name, url, step)
                    checked.append(database)
                    problems = [*problems, *found]
    except OSError as error:
        raise UpgradeCheckError(f"the upgrade could not be tried: {error}") from error
    problems += [danger.rstrip(".") for danger in dict.fromkeys(dangers(settings, enabled(settings)))]
    return UpgradeReport(
        release=version("openspot"),
        was_running=state is not None,
        journal=journal,
        databases=checked,
        changes=_changes(journal, checked, data_dir, os.environ),
        problems=problems,
        scratch_bytes=needed,
        seconds=round(time.perf_counter() - began, 1),
    )


def _changes(
    journal: JournalChecked | None, databases: list[DatabaseChecked], data_dir: Path, environment: Mapping[str, str]
) -> list[str]:
    """What the first start of this release will do."""
    changes = [f"{database.name}: migration {name}" for database in databases for name in database.migrations]
    changes += [f"{database.name}: the database is made" for database in databases if not database.revision]
    if journal is not None and journal.format != FORMAT:
        changes.append(f"the journal stays in format {journal.format}; new journals have format {FORMAT}")
    if journal is not None and not journal.compared:
        changes.append("no snapshot of the old release was there to compare states: stop it in order, then check again")
    changes += [f"{name} is generated into {SECRETS}" for name in _new_secrets(data_dir, environment)]
    changes += [f"{name} is no setting of this release and has no effect" for name in unknown_variables(environment)]
    return changes


def _new_secrets(data_dir: Path, environment: Mapping[str, str]) -> list[str]:
    try:
        kept = json.loads((data_dir / SECRETS).read_text("utf-8"))
    except (OSError, ValueError):
        kept = {}
    names = generated_secrets(PlatformSettings)
    variables = {
        name: variable(name, PlatformSettings) for name, mark in names.items() if mark.random_bytes and name not in kept
    }
    return [found for found in variables.values() if not environment.get(found)]


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """The variables that look like settings and are none of this release."""
    known = {variable(name, PlatformSettings) for name in PlatformSettings.model_fields}
    return sorted(name for name in environment if name.startswith(PREFIX) and name not in known)


@contextmanager
def _scratch_folder(folder: Path) -> Iterator[Path]:
    """A new folder that is removed at the end; what a killed check left there goes first. Raises UpgradeCheckError."""
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder.with_name(folder.name + ".lock"), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise UpgradeCheckError(f"another check works in {folder}") from error
        if folder.exists():
            if any(folder.iterdir()) and not (folder / "mark").exists():
                raise UpgradeCheckError(f"{folder} holds other files: name a folder that is missing or empty")
            EmbeddedPostgres(folder / "postgres").end_leftover()
            shutil.rmtree(folder)
        folder.mkdir(mode=0o700)
        (folder / "mark").touch()
        try:
            yield folder
        finally:
            shutil.rmtree(folder)
    finally:
        os.close(descriptor)
