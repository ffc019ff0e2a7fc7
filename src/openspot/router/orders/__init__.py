"""Orders on their way in: pre-trade checks, placement in the engine, refusals, look-up and cancel."""
