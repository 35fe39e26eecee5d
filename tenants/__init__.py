"""Tenants, their members, and the desired and observed state of their address spaces.

This Django app holds the models, the rules, the queries and the actions that change rows.
"""
