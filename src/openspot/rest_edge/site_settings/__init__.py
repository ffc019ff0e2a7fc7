"""The settings that are the same for all users, and lists of countries and provinces (`/settings`)."""
