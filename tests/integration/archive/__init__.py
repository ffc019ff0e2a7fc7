"""Tests of the archive on a market whose mirrors can be compared with the engine."""
