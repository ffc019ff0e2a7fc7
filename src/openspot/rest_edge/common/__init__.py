"""What several wings of the edge share: amounts, pages, times, configuration files, signed events."""
