"""The edge's requests to custody over the bus."""
