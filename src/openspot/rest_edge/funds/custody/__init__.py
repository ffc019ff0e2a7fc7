"""Custody as the edge sees it: requests over the bus."""
