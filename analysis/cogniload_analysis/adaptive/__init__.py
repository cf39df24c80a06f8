"""What adaptive designs share, whichever benchmark they ask from, and their replay in a report."""
