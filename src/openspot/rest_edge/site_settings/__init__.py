"""What the platform tells all users of itself and of the world (`/settings`)."""
