"""The portal's views, by subject.

A view parses the request, calls a query or an action, and renders a page or redirects. A view with
a form shows the form on GET. On POST it runs the action and redirects, or shows the form again with
its errors.
"""
