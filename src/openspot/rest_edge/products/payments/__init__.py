"""Payments: a provider receives a user's money, and its signed callback credits the user."""
