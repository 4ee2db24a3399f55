"""Retrieval evaluation: recall, NDCG and budget figures of Recall and of simple baselines, on the same questions.

Enter at `run.evaluate`; `table.render` prints it. `product.py` is Recall itself, with its real import and index.
"""
