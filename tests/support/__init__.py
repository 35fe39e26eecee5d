"""Rows for tests, made through the product's own actions."""
