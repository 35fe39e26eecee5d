"""Payments through providers, and the dunning of unpaid invoices. Import from the defining module.

``port`` says what a provider does; ``providers`` lists them. API, portal and workers call
``checkouts``, ``events``, ``refunds`` and ``dunning``.
"""
