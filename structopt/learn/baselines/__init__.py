"""What the papers compare to: learned by counting or by likelihood, not by margins."""
