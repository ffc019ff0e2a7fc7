"""Users, as operators see them: search, one user's page, locks, notes, limits, sessions, closure."""
