"""Payments through providers, with a real stand-in of Stripe."""
