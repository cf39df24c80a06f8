"""Where the reasoning of a response breaks, and traces with planted errors."""
