"""/v1/network: linked servers, for operators, publishers and subscribers; and what servers send each other."""
