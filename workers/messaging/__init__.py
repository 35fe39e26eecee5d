"""The door to what runs: AMQP management, broker and router drivers, the probe."""
