"""Tests of the modules of ``controlplane.api``."""
