"""The backup describes itself. It reads every database as a whole; a restore changes rows that nobody uses yet."""

from openspot.backup.settings import BackupSettings
from openspot.kit.description import Descriptor, Tables

DESCRIPTOR = Descriptor(
    name="backup",
    title="Backup",
    settings=BackupSettings,
    tables=Tables(
        reads=("engine_cursors",),
        repairs=("refresh_tokens", "user_sessions", "custody_withdrawals", "custody_deposits"),
    ),
)
