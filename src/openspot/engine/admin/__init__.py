"""exchange.v1.AdminService: participants, sessions, orders, trades, balances and figures for the operator."""
