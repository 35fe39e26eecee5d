"""Waypost's Django project: settings, REST API, portal, command line and the shared ``core``.

The package ``embedded`` runs all of Waypost on one machine. The package ``demo`` demonstrates it.
"""
