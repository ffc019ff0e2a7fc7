"""Notifications of other services: by mail and to the connections of their user, as the user has set it."""
