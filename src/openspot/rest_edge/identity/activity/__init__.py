"""The activity log of each account."""
