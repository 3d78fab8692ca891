"""Zhu, Xing and Zhang (2009), table by table."""
