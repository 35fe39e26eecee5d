"""The catalogue's typed definitions, its parser, and the default document."""
