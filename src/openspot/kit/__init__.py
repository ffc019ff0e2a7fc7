"""Machinery without business words: settings, bus, database, clock, health, metrics, log, service runner."""
