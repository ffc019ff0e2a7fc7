"""Margin risk service: margin levels, loans and their interest, warnings, liquidation (facts B4.3-14 to B4.3-16).

The service is idle on the spot path (fact A1.1-16).
"""
