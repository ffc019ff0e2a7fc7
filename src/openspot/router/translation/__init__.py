"""Engine events on their way out: bus events, rows, and the lease under which one router publishes them."""
