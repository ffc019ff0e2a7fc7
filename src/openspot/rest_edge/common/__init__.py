"""Parts that several wings of the edge share: amounts, configuration files, repeated work, signed events."""
