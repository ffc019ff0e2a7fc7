"""Users with their passwords, and how guessing at them is slowed down."""
