"""Sealing secrets: whether rows need one that is not there, or a former one."""

from collections.abc import Iterator
from typing import Any

import psycopg

from openspot.doctor.findings import Finding, fine, problem, warning
from openspot.kit.sealing import key_id_of
from openspot.kit.secrets_file import SecretsFileError, with_known_secrets
from openspot.resealing.columns import IS_THERE, USES


def sealing_findings(connection: "psycopg.Connection[Any]", settings: Any) -> Iterator[Finding]:
    """What is wrong with the secrets under which rows are sealed."""
    try:
        known = with_known_secrets(settings)
    except (OSError, SecretsFileError):
        # What is wrong with the file is a finding of its own.
        return
    row = connection.execute(IS_THERE).fetchone()
    if not known.sealing_secret or row is None or not row[0]:
        return
    current, *former = map(key_id_of, known.sealing_secrets)
    try:
        rows: dict[str, int] = {}
        for _, key_id, count in connection.execute(USES):
            rows[key_id] = rows.get(key_id, 0) + count
    except psycopg.errors.QueryCanceled:
        yield warning("sealing", "there are too many sealed rows to count them in this time", "`openspot secrets "
                      "status` takes its time")  # fmt: skip
        return
    missing = {key_id: count for key_id, count in rows.items() if key_id not in (current, *former, "")}
    if missing:
        yield problem("sealing", f"{sum(missing.values()):,} rows are sealed with a secret that is not here, key "
                      f"{', '.join(sorted(missing))}", "add it to OPENSPOT_SEALING_SECRETS_FORMER")  # fmt: skip
    waiting = sum(count for key_id, count in rows.items() if key_id in (*former, ""))
    if former and waiting:
        yield warning("sealing", f"{waiting:,} rows still need a former sealing secret", "`openspot secrets reseal`")
    elif former:
        yield warning("sealing", "no row needs the former sealing secrets", "`openspot secrets forget`")
    elif not missing:
        yield fine("sealing", "the sealing secret opens every row")
