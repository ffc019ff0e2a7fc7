"""Processes in the console: an operator restarts one that `openspot up` runs."""
