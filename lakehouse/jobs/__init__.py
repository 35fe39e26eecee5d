"""The jobs, one module each. Every job prints its result as one line of JSON on stdout."""
