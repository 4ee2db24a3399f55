"""What Recall knows about a user: facts, documents, episodes, and the index that finds them.

Enter at `retrieval.recall.retrieve`, `librarian.run` (learn), `review.decisions` (decide), `forgetting.execute`.
Layers, top first: pages, evaluation → forgetting, consolidation → librarian → trash → review → documents → facts →
retrieval → index → embeddings → ports, models → text. Views, API, admin and tasks are above all of them.

May import accounts and recall. Never imports budget or chat: they register what memory needs in `ports`.
"""
