"""Any structure under hard constraints."""
