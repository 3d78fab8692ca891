"""Shivaswamy and Jebara (2009), table by table."""
