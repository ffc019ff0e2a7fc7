"""The timetable: a process that runs `openspot backup` and `openspot reconcile` when they are due."""
