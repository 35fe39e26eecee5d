"""PySpark and Delta: from samples to usage. Knows nothing of Django and imports nothing of ours."""
