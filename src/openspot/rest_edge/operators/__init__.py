"""Routes for operators: who is one, what they did, and people, money and markets as operators see them."""
