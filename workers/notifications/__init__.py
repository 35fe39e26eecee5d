"""Sends notifications: mails, signed webhooks, chats and pagers. The Celery tasks call it."""
