"""The users' own accounts: `/users/me/*` (facts B4.1-38 to B4.1-48)."""
