"""Subscription service: plans, billing, entitlements (facts B4.6-01 to B4.6-15)."""
