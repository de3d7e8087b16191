"""How long a test waits for what must happen: far longer than it ever takes, so that only what never comes fails."""

# Seconds.
PATIENCE = 600.0
