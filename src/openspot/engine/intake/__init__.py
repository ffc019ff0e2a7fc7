"""How commands come in: checked, numbered, put in one order, committed and applied."""
