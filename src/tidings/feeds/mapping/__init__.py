"""What a mapping file says, read and written."""
