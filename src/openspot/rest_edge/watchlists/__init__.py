"""Watchlists: the markets that a user keeps together, such as the favourites."""
