"""The embedded installation: all servers on one machine, run by supervisord."""
