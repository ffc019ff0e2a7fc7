"""Position service: positions, transfers, profit and loss, FIFO cost basis, broker-of-record intake.

Document B 4.5.
"""
