"""What CogniLoad adds to the command line."""
