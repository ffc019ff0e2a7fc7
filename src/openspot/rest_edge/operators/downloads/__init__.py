"""Links by which a browser saves an export to its disk by itself: of one operator, one route, one use, one minute."""
