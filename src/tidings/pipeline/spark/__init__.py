"""What every use of Spark needs: a session, folders that all machines reach, workers' caches, errors in plain words."""
