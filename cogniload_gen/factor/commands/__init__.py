"""What FACTOR adds to the command line."""
