"""The embedded installation: all servers on one machine, run by supervisord.

``stack`` starts and stops it. It is for trials, tests and demonstrations only.
"""
