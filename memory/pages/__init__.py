"""What does each of memory's pages show? One module a page; none of them knows of requests."""
