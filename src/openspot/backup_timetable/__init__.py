"""The timetable of backups: a process that runs `openspot backup` every so many seconds (docs/operations/backup.md)."""
