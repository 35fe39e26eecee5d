"""The catalog's typed definitions, its parser, and the default document."""
