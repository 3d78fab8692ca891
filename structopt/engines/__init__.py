"""Where shards live: in this process, or behind joblib."""
