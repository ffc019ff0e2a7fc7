"""The journal of commands on disk, its snapshots, recovery from both, and their inspection."""
