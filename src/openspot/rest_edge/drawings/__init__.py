"""Drawings: what a user has drawn on the chart of a market, such as trend lines."""
