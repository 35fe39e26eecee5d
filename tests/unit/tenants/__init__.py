"""Tests of tenants/: actions, admission, placement, queries."""
