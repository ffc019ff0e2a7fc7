"""Sessions: begin, list, and end in all processes."""
