"""Tables, figures and sentences as a report shows them, whichever benchmark they are of."""
