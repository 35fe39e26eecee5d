"""The operations of the API, in a package for each part of it."""
