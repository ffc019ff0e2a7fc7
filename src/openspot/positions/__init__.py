"""Position service: positions, transfers, profit and loss, FIFO cost basis, reports of a broker of record.

Its routes are in facts B4.5-01 to B4.5-30.
"""
