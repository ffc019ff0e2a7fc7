"""Subscription service: plans, billing, entitlements (Document B 4.6)."""
