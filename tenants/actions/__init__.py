"""Verbs that change desired state: keyword-only, atomic, audited, nudging after commit."""
