"""`openspot deposit`: a confirmed deposit, as the custody service publishes it."""
