"""Plans, and the subscriptions and payments of all users, from the subscription service."""
