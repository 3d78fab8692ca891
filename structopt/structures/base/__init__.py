"""What every structure shares: the contract, shards, oracles, parts."""
