"""What a response is: its sample, its budget, its rewards and what it mentions."""
