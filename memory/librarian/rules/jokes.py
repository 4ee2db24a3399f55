"""Claims that are not meant literally: exaggeration, irony, and things that act like people.

A joke taken at its word is the kind of junk that people laugh about and distrust a memory for; so whatever has the mark
of one is left alone, even where now and then it was meant. Each row is a figure of speech, with examples of it.
"""

from __future__ import annotations

import re
from typing import Final

_SELF_MADE: Final = (  # degrees and trades that nobody has
    r"(?:degree|phd|masters?|diploma|doctorate) in (?:overthinking|procrastinat\w+|shopping|napping|sarcasm|worrying"
    r"|chaos)",
    r"professional (?:procrastinator|napper|overthinker|worrier)|full[- ]time (?:napper|procrastinator|snack\w*)",
    r"expert (?:in|at) (?:naps|napping|procrastinat\w+|nothing)|certified (?:idiot|mess|genius|hater|lunatic)",
    r"fluent (?:sarcasm|gibberish|nonsense)|black belt in|couch olympics|sleep for a living",
    r"recovering (?:perfectionist|people pleaser|overthinker|shopaholic)|being an? (?:millionaire|genius)",
)
_OVERSTATED: Final = (  # “I run a zoo”, “my retirement plan is the lottery”
    r"true love is my|relationship with my (?:sofa|couch|bed|fridge|phone|car|bike|coffee|pillow|oven|laptop)|vendetta",
    r"(?:is|are) (?:my|our) firstborn|raised by wolves|(?:mars|the moon) (?:after|next|soon|then|anyway)|trench coat",
    r"(?:voldemort|dracula|darth vader|satan|godzilla|sauron|lucifer)",
    r"retirement plan is (?:the lottery|winning|dying|to die|marrying)|should be illegal|thug life",
    r"(?:run|runs|manage|manages) a (?:zoo|circus|madhouse)\b",
    r"(?:ceo|president|owner|king|queen) of my own (?:couch|sofa|bed|kitchen|world)|become a hermit",
    r"(?:knees|back|joints|hips|body|soul) (?:is|are|feels?|feel like) \d+ years|eat (?:my )?feelings",
    r"(?:cat|dog|kitten|puppy|hamster|parrot|toddler|baby) (?:has |have )?filed a complaint",
    r"lives? for (?:the )?(?:fridays?|weekends?|coffee|naps|drama)|exactly one (?:fork|spoon|sock|brain cell)",
    r"seen the gym|runs on (?:prayers|hope|vibes|duct tape)",
    r"identif(?:y|ies) as an? (?:\w+ )?(?:dinosaur|cat|dog|unicorn|potato|dragon|pirate|toaster|vampire|sloth)",
)
_LARGER_THAN_LIFE: Final = (  # “I've told you a million times”, “born tired”
    r"literally (?:die|dead|dying)|could eat (?:my|an?|the)\b|eat a horse|browser tabs|tabs open|two left feet",
    r"99 problems|(?:million|billion|gazillion|thousand) (?:times|years|things|tabs|kids|cats|children)",
    r"[2-9]\d\d years old|1\d\d\d years old|\b[3-9]\d (?:cats|dogs|kids|children|sons|daughters)|aged (?:\w+ )?years",
    r"since the (?:jurassic|dinosaurs|ice age|dawn|stone age|middle ages)",
    r"\binfinite|\bnegative \d|half the moon|the moon$",
    r"world's (?:worst|best|okayest|laziest|greatest)|born (?:tired|ready|cool|hungry|lazy|late)|sold my soul",
    r"(?:attention span|memory) (?:of|like) a|banned from every|restraining order from my",
    r"dying of|dead inside|kill me|killing me|brain cells?|another bite|to never see another|deadlines for",
    r"unfinished projects|never got (?:to|a chance)|\bnothing$",
)
_MADE_OF: Final = (  # “90 % tea”
    r"\d+% (?:coffee|water|caffeine|tea|pizza|chocolate|sure|done)|(?:1000|110|200|100|99)\s?%",
    r"(?:am|i'm|is|are) (?:\d+|\w+ty(?:[- ]\w+)?|half) ?(?:%|per ?cent) (?-i:(?!sure|deaf|blind|vegan"
    r"|vegetarian|disabled|remote|owned"
    r"|of|off|custody)[a-z]+)$",
    r"basically (?:an? |made of|\d)|powered by|fuell?ed by|runs? on (?:caffeine|coffee|spite|tea|chocolate)",
    r"survive on (?:coffee|caffeine|spite)|live (?:on|off|in) (?:coffee|caffeine|denial|sweatpants|pyjamas|hope|chaos"
    r"|tea|my head)|(?:live|lives|living) in the (?:fridge|gym|bath|library)|live at work",
)
_NOT_OF_THIS_WORLD: Final = (
    r"queen of|king of england|spaceship|emperor|god of|pope\b|batman|president of|prime minister|vampire|wizard",
    r"unicorn|time travell?er|alien|potato|raccoon|goblin|spirit animal",
    r"my (?:dream|future|past|other|inner|evil) self|(?:past|previous|former) life|my other (?:car|bike|house)",
    r"not? (?:shakespeare|einstein|picasso|mozart|superman|gordon ramsay|hemingway|usain bolt)",
)
_LIKE_PEOPLE: Final = (  # “my fridge is judging me”, “my cat is my landlord”
    r"my (?:plants?|houseplants?|fridge|bed|sofa|couch|bank account|wallet|printer|goldfish|pillow|alarm clock)"
    r" (?:hates?|is judging|are judging|and i|is my|has filed|owns|runs|thinks|knows)",
    r"(?:wallet|bank account|hair|fridge|houseplants?|plants?|sofa|gym|scales?|jeans|knees?) (?:is|are|has|have)"
    r" (?:its|their|crying|plotting|judging|screaming|begging|laughing|mad at|on a diet|filing|suing)",
    r"(?:cat|dog|kitten|puppy|hamster|parrot|toddler|baby) is (?:my|our) (?:landlord|boss|therapist|manager|master"
    r"|king|queen|overlord|alarm|roommate)|is my boss|for treats\b|social life than me",
    r"(?:cat|dog|kitten|puppy|toddler|baby) runs the (?:house|household|show|place)",
    r"my brain (?:is|has|left|died)|left the (?:building|chat)",
    r"(?:basically|practically|virtually) (?:married|related) to my|married to my (?:job|work|sofa|phone|laptop|bed)",
    r"married my (?:mattress|sofa|couch|bed|job|work|phone|laptop|fridge|pillow|blanket|coffee|pizza)|marry me",
)
_CALLED_NAMES: Final = (  # “my toddler is a tiny dictator”
    r"is (?:(?:an?|the|such a|literally a) )?(?:(?:little|tiny|total|absolute|real) )*(?:dinosaur|devil|dictator"
    r"|monster|tyrant|saint(?! bernard)|clown|gremlin|sieve|menace|nightmare|drama queen|diva|psychopath)"
    r"(?! (?:trucks?|\w+er|\w+or|fish|called)\b)",
    r"(?:toxic trait|superpower|guilty pleasure|love language|kryptonite|cardio|blood type) is (?!(?:a|b|ab|o)\b)",
    r"(?:is|are) my middle name|allergic to (?:work|mornings|mondays|nonsense|effort|adulting|my ex|people"
    r"|cardio|responsibility)",
)
_THINGS_THAT_ACT: Final = (  # “three moths hold the majority stake in my coat”
    r"eloped|unioni[sz]ed|subpoenaed|repossess\w+|(?:is|are|went|gone|going) on strike|hired (?:a lawyer"
    r"|an? solicitor|counsel)"
    r"|(?:holds?|holding) a grudge|keeps? a diary about|conspir\w+ against|declared war on (?:me|us|my)"
    r"|signed a (?:treaty|truce)"
    r"|(?:held|holding|holds?) (?:me|us|my \w+) hostage|employee of the month|majority stake in my"
    r"|worship(?:s|ped)? my|civili[sz]ation"
    r"|restraining order against|no longer on speaking terms|on speaking terms|filed for (?:divorce"
    r"|custody) from my (?!wife|husband)",
    r"adopted by (?:\w+ )?(?:pigeons|raccoons|cats|geese|ducks|wolves|crows|squirrels|seagulls)",
    r"raised by (?!(?:[\w-]+ )?(?:parents|grand\w+|immigrants|nuns|relatives|aunts|uncles|mums|moms|dads"
    r"|teachers|farmers"
    r"|academics|doctors|missionaries|monks|sisters|brothers|lesbians|musicians|artists|people|strangers)\b)\w+s\b",
    r"made me (?:their|its) (?:king|queen|leader|god|chief|president|overlord|pope)|perfectly normal human",
    r"(?:moving|moved|move|live|living|sleep|sleeping) (?:in|into|inside) (?:the|my) (?:dishwasher|fridge"
    r"|oven|washing machine|wardrobe"
    r"|cupboard|freezer|bin|tumble dryer|microwave|biscuit tin)",
    r"gave birth to an? (?!(?:[\w.-]+ ){0,3}(?:son|daughter|boy|girl|baby|child)\b)",
    r"(?:acute|chronic|terminal|severe) (?:sunday|monday|tuesday|wednesday|thursday|friday|laziness|boredom"
    r"|procrastination)",
    r"dialects? of \w+ing|(?:sooner|rather) (?:marry|lick|wrestle|fight|swallow|hug|eat my) ",
    r"(?:[2-9]\d\d|\d{4,}) years (?:but|and|in|now|old)|legally (?:married|divorced|owned)"
    r"|sold my (?:imagination|dignity|sanity)",
)
_SAID_TO_BE_NONE: Final = (r"said no one|yeah,? (?:sure|right)|move it move it",)

_FIGURES: Final = (
    *_SELF_MADE,
    *_OVERSTATED,
    *_LARGER_THAN_LIFE,
    *_MADE_OF,
    *_NOT_OF_THIS_WORLD,
    *_LIKE_PEOPLE,
    *_CALLED_NAMES,
    *_THINGS_THAT_ACT,
    *_SAID_TO_BE_NONE,
)
JOKES: Final = re.compile(rf"\b(?:{'|'.join(_FIGURES)})\b|😂|🤣", re.I)
