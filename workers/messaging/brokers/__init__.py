"""Describe, configure and read Artemis brokers; desired state and rendering of files are pure."""
