"""One action for many users or verifications, which can be rehearsed first."""
