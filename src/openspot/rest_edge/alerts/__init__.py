"""Price alerts: what users want to be told of the price of a market."""
