"""The jobs, one module each. A job prints its result, or its error, as one JSON line on stdout."""
