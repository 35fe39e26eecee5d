"""The registry of meters, and PostgreSQL's copy of the usage that the lakehouse computed."""
