"""The door to where things run: one contract, an adapter per place."""
