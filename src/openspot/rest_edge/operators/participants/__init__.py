"""Participants of the engine as operators see them: who they are, what they have, their risk, and who is frozen."""
