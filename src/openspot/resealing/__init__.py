"""The sealing secret is exchanged: what was sealed with a former one is found, and sealed anew."""
