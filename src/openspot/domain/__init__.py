"""Values and rules of the field. Standard library only; no clock, no IO, no randomness of its own."""
