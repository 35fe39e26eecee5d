"""Django's PostgreSQL backend whose errors hold no rows; see ``base``."""
