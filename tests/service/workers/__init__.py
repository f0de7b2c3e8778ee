"""Processes of the service: inquiries, jobs, children."""
