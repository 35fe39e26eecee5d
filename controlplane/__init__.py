"""Waypost's Django project: settings, REST API, portal, command line and the shared ``core``.

``embedded`` and ``demo`` run and demonstrate Waypost on one machine.
"""
