"""What the access matrix is made of: the map of URLs, decisions, callers and rows that exist."""
