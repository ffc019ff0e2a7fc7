"""Participants of the engine as operators see them: their risk, and who is frozen."""
