"""The order router: pre-trade risk, engine placement, engine-event translation, deposit bridge (Document A 1.1)."""
