"""Tests of local accounts."""
