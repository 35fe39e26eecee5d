"""Pure rules: DataFrames and plain values in, one DataFrame out. No session, path or clock."""
