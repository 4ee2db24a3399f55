"""What goes with a message beside its words: images, files, long pastes. Counted in the budget, never evidence.

limits     how many, how large, and why
pictures   an image as the model gets it; read in a process of its own
accepting  a file becomes a draft, or a sentence says why not
binding    a draft becomes part of a message
attached   what stands in a prompt for it
showing    what a page shows of it
serving    its addresses
clearing   drafts nobody sent
"""
