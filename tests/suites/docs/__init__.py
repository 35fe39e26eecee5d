"""The docs site, built from the pages of ``docs``."""
