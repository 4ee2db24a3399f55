"""Text embedding: the models that turn text into vectors, run without PyTorch or a network.

Enter at `port.embedder()`. `minilm.py` is the built-in model (of `published.py`, with layers that `graph.py` builds),
`onnx_folder.py` any other, `limits.py` their numbers, `scale.py` what their cosines mean; `cross_encoder.py` reads a
question and a text together, if there is one. May import `recall` only. Never touches the database.
"""
