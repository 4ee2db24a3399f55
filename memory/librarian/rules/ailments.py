"""Names of illnesses, impairments and medicines, as parts of patterns."""

from __future__ import annotations

from typing import Final

from memory.librarian.rules.people import alternatives
from memory.librarian.rules.slots import CONDITIONS

AILMENTS: Final = (
    rf"{alternatives(tuple(CONDITIONS - {'add'}))}|herniated|slipped disc|stage fright|panic"
    rf" attacks?|headaches?|nosebleeds?|hives"
    r"|heartburn|cramps|motion sickness|travel sickness|seasick\w*|carsick|nausea|rash(?:es)?|sciatica|acid reflux"
    r"|\w+ (?:disease|disorder|syndrome|intoleran\w+|allerg\w+|deficiency|condition|injury|fever|apnoea|apnea|phobia)"
    r"|\w*phobia|phobia|insulin[- ]resist\w+|pacemaker|cataracts?|gallstones|kidney stones|hernia|tendonitis"
    r"|tendinitis|arrhythmia|long covid|chronic \w+|bad (?:knee|back|hip|shoulder|heart|eyesight)s?|dyscalculia"
    r"|dyspraxia|night[- ]blindness|a stammer|a stutter|rosacea|acne|high blood pressure|low blood pressure"
    r"|pcos|pmdd|gerd|copd|mcas"
    r"|me/cfs|sleep apn\w+|plantar fasciitis|carpal tunnel"
)
IMPAIRED: Final = r"\w*phobic|dyspraxic|dyscalculic|ana?emic|haemophiliac"
"""What “I'm …” tells by one word alone."""
MEDICINE: Final = (
    r"warfarin|insulin|metformin|statins?|beta ?blockers?|antidepressants?|blood thinners?|steroids?|chemo\w*|the pill"
    r"|hrt|medication|meds|ssris?|lithium|methotrexate|prednisone|sertraline|antibiotics|dialysis|antihistamines"
    r"|painkillers|immunosuppressants?|\w{3,}(?:olol|pril|sartan|statin|oxetine|azole|mycin|cillin|parin|xaban|gliptin"
    r"|tide|mab|zepam|zolam|triptan|thyroxine|caftor|prazole)"
)
