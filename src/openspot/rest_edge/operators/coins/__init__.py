"""The networks of coins as operators see them: add one, change its terms, take it away."""
