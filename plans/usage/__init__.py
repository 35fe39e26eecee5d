"""Usage: the registry of meters, and PostgreSQL's copy of what the lakehouse computed."""
