"""Generated code."""
