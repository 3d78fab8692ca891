"""Punyakanok, Roth, Yih and Zimak (2005), figure by figure."""
