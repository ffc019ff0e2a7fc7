"""Tests of an exchanged sealing secret on a real database."""
