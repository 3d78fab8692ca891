"""Wang and Shawe-Taylor (2009), table by table."""
