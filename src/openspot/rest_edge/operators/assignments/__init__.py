"""Who is to decide on a withdrawal."""
