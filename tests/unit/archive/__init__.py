"""Tests of the archive's files and settings."""
