"""Django's PostgreSQL backend with errors that quote no rows; see ``base``."""
