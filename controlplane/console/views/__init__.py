"""Pages by subject: parse, call one action or query, answer."""
