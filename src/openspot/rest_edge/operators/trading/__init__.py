"""The orders and trades of all users: lists, files, and the cancel of one order."""
