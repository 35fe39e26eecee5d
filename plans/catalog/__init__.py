"""The catalog of plans and prices: definitions, YAML parser, default document, publishing."""
