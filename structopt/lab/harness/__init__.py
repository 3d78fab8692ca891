"""What every measurement shares: cells, turns, limits, a store, writers."""
