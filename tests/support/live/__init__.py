"""The benches of live readings: pages, history, sampling, and a dead broker."""
