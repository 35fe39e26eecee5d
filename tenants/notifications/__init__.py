"""Notifications of people and programs: events, who gets them, and alarms of addresses.

Code that changes something writes an event in the transaction of the change (``outbox``). Workers
turn events into deliveries (``routing``), send them (``workers.notifications``) and store each
attempt (``deliveries``).
"""
