"""The embedded default: the servers of one installation on one machine, and their supervision."""
