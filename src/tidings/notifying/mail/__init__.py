"""Mails: their text, their links and addresses, and the connection to the mail server."""
