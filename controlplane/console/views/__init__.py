"""The portal's views, by subject.

A view parses the request, calls a query or an action, and renders a page or redirects.
"""
