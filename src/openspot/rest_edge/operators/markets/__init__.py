"""Markets as operators see them: list one, change it, open it, delist it."""
