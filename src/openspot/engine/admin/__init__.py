"""What operators do: exchange.v1.AdminService, the listing of symbols and currencies, and fees by volume tier."""
