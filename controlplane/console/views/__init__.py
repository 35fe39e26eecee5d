"""Views by subject. Each parses the request, calls an action or a query, and renders a page."""
