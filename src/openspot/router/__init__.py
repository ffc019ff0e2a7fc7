"""The order router: pre-trade checks, placement in the engine, translation of its events, bridge to custody."""
