"""Tests of plans/: catalog and quotas."""
