"""Benchmarks: each prints both sides of one run, and nothing here is a test."""
