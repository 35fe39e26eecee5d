"""Template filters and tags of the portal."""
