"""`cogniload eval`: lm-eval in blocks that a crash leaves whole."""
