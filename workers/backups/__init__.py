"""The scheduled backup of an installation in a cluster. The embedded one has its own."""
