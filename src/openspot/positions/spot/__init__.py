"""What users hold on the exchange, with cost, value and result."""
