"""Pure transforms of DataFrames. They use no session, path or clock."""
