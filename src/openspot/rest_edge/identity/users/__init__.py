"""What users see and change of their own accounts (Document B 4.1, `/users/me/*`)."""
