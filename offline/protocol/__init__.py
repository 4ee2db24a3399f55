"""The provider's protocol: what is rejected, how tokens are counted and cached, and how an answer is streamed.

Enter at `validation.check_message`, `cache.PromptCache`, `prompt.read_prompt` and `stream.frames`. May import
`offline.errors` and `offline.faults`; never decides what to answer.
"""
