"""OpenSpot: a self-hosted spot exchange."""

__version__ = "0.1.0"
