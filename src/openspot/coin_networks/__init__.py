"""The networks that operators gave to coins: the tables that keep them, and how services follow them."""
