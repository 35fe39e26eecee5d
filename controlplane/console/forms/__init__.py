"""Forms by subject: they parse and word what people type; rules live in the actions."""
