"""Text embedding: the models that turn text into vectors, run without PyTorch or a network.

Enter at `port.embedder()`. `minilm.py` is the built-in model, `onnx_folder.py` any other, `limits.py` their numbers.
May import `recall` only. Never touches the database.
"""
