"""What durable commands change: the core, the names it does not know, participants, orders, trades and totals."""
