"""What an output can be: feature maps, losses and oracles, one structure a file."""
