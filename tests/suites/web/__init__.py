"""The web server as a program: slow clients, limits, event streams."""
