"""The network behind what is read word by word: MiniLM with low-rank adapters, fitted here and run by ONNX Runtime.

Enter at `reader.py` (scores of a text's pieces) or `training.py` (fits adapters to examples, for `manage.py train-…`;
`adapted.py` is its forward pass in NumPy, `contrastive.py` fits questions to their answers). `pieces.py` divides texts
and finds words.

May import embeddings. Never knows what a label means.
"""
