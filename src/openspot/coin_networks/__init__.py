"""The networks that operators gave to coins, and what they paused: the tables, and how services follow them."""
