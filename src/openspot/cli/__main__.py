"""Runs the command as `python -m openspot.cli`."""

from openspot.cli import app

app()
