"""What can go wrong with a backup."""


class BackupError(Exception):
    """The backup was not made, is not sound, or was not restored; the message says why and what to do."""


class BackupBusyError(BackupError):
    """Another backup is under way: nothing is wrong, and nothing was done."""
