"""The catalog of plans and prices: typed definitions, parser, default document, publishing."""
