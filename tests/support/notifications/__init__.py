"""Receivers of notifications for tests: an HTTP server for webhooks, channels with deliveries."""
