"""Every backend on every problem, certified."""
