"""Retrieval evaluation: recall, NDCG and budget figures of Recall and of simple baselines, on the same questions.

Enter at `run.evaluate`; `table.render` prints it. `product.py` is Recall itself, with its real import and index.

May import index, retrieval and ports. Never gives a system more than another: the questions, texts and clock are the
same.
"""
