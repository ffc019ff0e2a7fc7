"""What the platform tells of itself and of the world (`/settings`), and each user's notification settings."""
