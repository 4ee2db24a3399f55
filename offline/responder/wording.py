"""The demo's lines, with variants that alternate."""

SELF = (
    "I'm Recall's built-in demo: a few rules, not a language model. I answer from your memories. A real model could "
    "also write, explain and plan; to connect one, set `ANTHROPIC_API_KEY` or `ANTHROPIC_BASE_URL` and restart Recall."
)
"""Said to a user who asks what it is."""
INTRODUCTION = "I'm only a demo with simple rules."
REAL_MODEL = "A real model could also write, explain and plan."
"""Said once a conversation, below an answer; the second sentence in the first one, if the answer doesn't say so."""
HELP = (
    "Tell me about yourself, then ask: “Where do I live?” “What do you know about me?” “What's 12% of 80?”\n\n"
    "Recall reads a conversation after you leave it. It saves what's clear, and asks you about the rest under Memory, "
    "To review."
)
NOTED = ("Noted: {claim}.", "Got it: {claim}.", "Understood: {claim}.", "All right: {claim}.")
NOTED_LIST = "Noted, your {head}: {rest}."
NOTED_HERE = ("Okay: {claim}.", "I see: {claim}.", "All right: {claim}.", "Right, {claim}.")
"""In a temporary chat, which notes nothing."""
READ = ("Okay.", "I see.", "All right.", "Understood.")
SHARED = ("Thanks for telling me.", "I see. Thanks for telling me.", "Okay, thank you for sharing that.")
FEELING = (
    "I'm sorry you feel that way. I'm only a simple demo, but you can tell me about it.",
    "That sounds hard. It may help to talk to someone close to you.",
    "I'm sorry to hear that. I hope it gets easier soon.",
)
JOY = ("That's good to hear.", "I'm glad for you.", "I'm happy for you.")
MEANT = "All right: {meant}."
NEW_NAME = "Nice to meet you, {name}."
NOT_REPEATED = "That looks like a secret, so I won't repeat it. Recall doesn't keep secrets as memories."
NEVER_SEEN = "Recall keeps secrets from me. If you wrote it in a message, you can still read it there."
HIDDEN = "Recall hides secrets from me. You can still read it in your own message."
SORRY = "I'm sorry to hear that."
DANGER = (
    "I'm sorry it's this hard. I'm only a program and can't help the way a person can: please call your local "
    "emergency number or a crisis line now, or tell someone near you."
)
UNKNOWN = ("I don't know that yet.", "You haven't mentioned that yet.", "I have nothing on that yet.")
NOT_FOUND = (
    "I searched your memories and found nothing about that.",
    "I looked through your memories: nothing on that.",
)
GENERAL = "General knowledge needs a real model."
PERHAPS_CHANGED = "You have said something newer since, perhaps about another part of it."
ADVICE = (
    "That needs a real model. I only answer from your memories.",
    "That needs a real model: I can only say what I remember.",
)
OWN_WORDS = "You wrote: “{words}”"
CORRECTED_WORDS = "As you corrected it, you wrote: “{words}”"
ALSO = "You also wrote: “{words}”"
WENT_ON = "After that you wrote: “{words}”"
SINCE_THEN = "Since then: {known}"
CLOSEST = "I'm not sure, but I have this: {known}"
CLOSEST_WORDS = "I'm not sure, but you wrote: “{words}”"
MAY_HELP = "This may help. You wrote: “{words}”"
IN_FILE = "{name} says:\n\n{words}"
FILE_READ = "I can read {name}. Ask me what's in it."
EMPTY_FILE = "There's no text in {name} that I can read."
TASK = "I can't do that: writing, explaining and planning need a real model."
NOTHING_KNOWN = (
    "Nothing saved yet. Tell me about yourself: Recall reads a conversation after you leave it, and may ask you under "
    "Memory, To review."
)
NOTHING_READ = "I don't read your memory in this chat. Turn on “Use my memory”, and ask again."
ABOUT_USER = "Here's what I know about you:"
WELCOME = ("Hello{name}!", "Hi{name}!")
WELCOME_BACK = ("Welcome back{name}!", "Hello again{name}!")
STILL_OPEN = "{welcome} Still open: {goal}"
LAST_SAID = "{welcome} Last time you said: “{said}”"
STARTED = "Last time you started with: “{words}”"
ENDED = "At the end you wrote: “{words}”"
THANKS = ("You're welcome.", "Glad to help.", "Any time.")
GOODBYE = ("Goodbye{name}!", "See you{name}.", "Take care{name}.")
AGREED = ("Okay.", "All right.", "Good.")
REFUSED = ("Okay, never mind.", "All right, then not.")
CORRECTED = ("Sorry. Tell me what's right: your newest words count.",)
NO_REMINDERS = "I can't set reminders. Ask me later, and I'll tell you what you said."
WELL = "I'm running fine, thanks. What would you like to tell me or ask?"
IS_SO = "Yes."
IS_NOT_SO = "No."
NOT_ANY_MORE = "Not any more."
FORGET_HERE = (
    "I've stopped using that. The Forget button under your message opens a preview, where you can delete it for good."
)
FORGET_THERE = (
    "I can't delete memories myself. To forget {topic}, open Settings → Data → Forget something: you see what would "
    "go before anything is deleted."
)
TO_REVIEW = "This still waits under Memory, To review."
SAID_HERE = "In this conversation you said:"
MORE_KNOWN = "… and {count} more, under Memory, About you."
WAITS = "{count} for your review under Memory, To review."
NONE_SAVED = "Nothing saved yet."
NO_TOOL = "I can't save that here. Recall reads a conversation after you leave it, unless it's temporary."
NOTHING_TO_ADD = "There's nothing to add to that."
SAMPLE = """Here's a sample of what an answer may look like.

## A list

- **bold** and *italic* words
- `inline code` and a [link](https://example.org/)

## A table

| memory | kind |
|---|---|
| Your sister lives in Lisbon | person |
| No peanuts | constraint |

## Some code

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"
```"""
