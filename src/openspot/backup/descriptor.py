"""The backup describes itself. It reads every database as a whole, and writes to none that a platform uses."""

from openspot.backup.settings import BackupSettings
from openspot.kit.description import Descriptor

DESCRIPTOR = Descriptor(name="backup", title="Backup", settings=BackupSettings)
