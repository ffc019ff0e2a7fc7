"""Users with their passwords, and the rules that slow down guessing."""
