"""Margin risk service: margin levels, loans and their interest, warnings, liquidation (Document B 4.3).

The service is idle on the spot path (Document A 1.1).
"""
