"""What the web server runs for operators: each run has an entry in the trail before it begins."""
