"""Chat's routes of the API: a module for each resource, thin. Parse, call, answer."""
