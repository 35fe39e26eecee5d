"""Pure transforms of Spark DataFrames: they use no session, path or clock, and write nothing."""
