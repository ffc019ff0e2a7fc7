"""Operators book adjustments that the engine alone has: who must agree, and what has been agreed to."""
