"""The fee lookup of Document A 2.7: no charged fee comes from it."""
