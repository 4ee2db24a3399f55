"""Background work: the librarian under load (`load`) and consolidation (`consolidation`)."""
