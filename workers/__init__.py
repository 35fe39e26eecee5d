"""Celery tasks and the code behind them. No other package reaches clusters, routers or brokers."""
