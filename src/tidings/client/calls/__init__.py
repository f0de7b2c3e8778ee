"""The methods of both clients by subject: in each module those of `Client`, then the same ones of `AsyncClient`."""
