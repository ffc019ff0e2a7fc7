"""The reports of a broker of record about completed orders."""
