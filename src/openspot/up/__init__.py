"""`openspot up`: the whole platform with one command, its servers embedded unless addresses are given."""
