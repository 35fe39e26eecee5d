"""Tests of plans/: catalogue and quotas."""
