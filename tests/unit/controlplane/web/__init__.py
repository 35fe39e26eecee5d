"""Tests of the modules of ``controlplane.web``."""
