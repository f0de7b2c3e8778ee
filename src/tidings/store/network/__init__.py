"""What a server of a network keeps beside its journal."""
