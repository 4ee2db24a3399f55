"""The process: start-up time (`startup`) and imports of large files (`imports`)."""
