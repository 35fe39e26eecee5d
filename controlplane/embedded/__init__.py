"""The embedded installation: all servers on one machine, run by supervisord.

``stack`` starts and stops the installation, which is for trials, tests and demonstrations only.
"""
