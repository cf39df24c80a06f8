"""The tasks `cogniload`, `cogniload_lite` and `cogniload_mini`."""
