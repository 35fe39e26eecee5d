"""Tables that other systems take: charges by FOCUS, usage, journal lines, deferred revenue."""
