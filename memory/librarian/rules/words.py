"""The word lists of the rules: occupations, conditions, verbs. Data, looked up word by word."""

from typing import Final

from memory.text.language import as_set


def singular(group: str) -> str:
    """One of a group: kids → child, hens → hen."""
    irregular = {"kids": "child", "children": "child", "grandkids": "grandchild", "grandchildren": "grandchild",
                 "puppies": "puppy", "ponies": "pony", "wives": "wife", "girls": "daughter", "boys": "son",
                 "lads": "son", "lasses": "daughter"}  # fmt: skip
    return irregular.get(group, group.removesuffix("s"))


SHORT_FORMS: Final = {
    "i": "I", "im": "I'm", "i'm": "I'm", "ive": "I've", "i've": "I've", "i'd": "I'd", "i'll": "I'll",
    "dont": "don't", "cant": "can't", "wont": "won't", "doesnt": "doesn't", "didnt": "didn't", "isnt": "isn't",
    "wasnt": "wasn't", "arent": "aren't", "havent": "haven't", "hasnt": "hasn't", "couldnt": "couldn't",
    "shes": "she's", "hes": "he's", "theyre": "they're", "weve": "we've", "thats": "that's", "theres": "there's",
    "names": "name's", "u": "you", "ur": "your", "gf": "girlfriend", "bf": "boyfriend", "hubby": "husband",
    "bday": "birthday", "yrs": "years", "yr": "year", "hrs": "hours", "wks": "weeks", "mins": "minutes",
    "tmrw": "tomorrow", "tmr": "tomorrow", "w/": "with", "wanna": "want to", "gonna": "going to",
    "rn": "right now", "bc": "because", "cos": "because", "coz": "because", "uni": "university",
}  # fmt: skip
"""What is typed in haste, spelled out. Only whole words, in lower case."""

OCCUPATIONS: Final = as_set(
    "nurse chef cook teacher lecturer professor doctor surgeon dentist vet physio physiotherapist midwife paramedic"
    " carer engineer developer programmer designer architect plumber electrician carpenter joiner welder mechanic"
    " driver pilot sailor fisherman farmer gardener florist baker butcher barista waiter waitress bartender barber"
    " hairdresser tailor cleaner postman policeman firefighter soldier guard lawyer solicitor judge paralegal"
    " accountant auditor banker broker analyst consultant manager director founder ceo cto secretary receptionist"
    " assistant clerk cashier librarian translator interpreter writer author editor journalist photographer"
    " illustrator artist painter sculptor musician singer drummer pianist actor actress dancer producer"
    " researcher scientist chemist biologist physicist historian geologist archaeologist economist statistician"
    " psychologist therapist counsellor counselor pharmacist optician technician sysadmin administrator admin plasterer"
    " bricklayer roofer builder surveyor planner buyer trader salesperson salesman recruiter trainer coach referee"
    " tutor priest vicar pastor nun potter jeweller watchmaker locksmith tiler glazier beekeeper winemaker brewer"
    " bookkeeper bookseller shopkeeper landscaper intern apprentice trainee freelancer contractor postdoc"
    " copywriter marketer radiographer radiologist anaesthetist dietitian nutritionist zookeeper conductor dispatcher"
    " lead head supervisor"
    " seamstress courier caretaker childminder nanny au-pair miner forester ranger logistician upholsterer toolmaker"
    " stonemason choreographer composer curator dramaturge caterer undertaker cartographer machinist"
    " actuary adviser agent anaesthesiologist animator arborist archivist astronaut astronomer attendant bailiff"
    " beautician blacksmith blogger bursar butler canvasser cellist chiropractor cobbler concierge coroner croupier"
    " dean decorator demonstrator detective diver docker ecologist environmentalist esthetician executive fitter"
    " fundraiser glassblower guitarist headmaster headmistress headteacher herbalist hygienist imam inspector"
    " instructor investigator janitor jockey lifeguard linguist lobbyist magician mason masseur masseuse"
    " mathematician negotiator notary obstetrician operator optometrist organist orthodontist osteopath"
    " paediatrician pediatrician perfumer phlebotomist physician podiatrist porter presenter principal proofreader"
    " prosecutor psychiatrist rabbi registrar reporter rigger saddler scaffolder screenwriter server shepherd"
    " sommelier steward stewardess strategist stylist taxidermist teller typesetter typist underwriter usher"
    " veterinarian violinist warden weaver woodcarver youtuber"
)
OCCUPATION_ENDINGS: Final = ("ologist", "keeper", "maker", "worker", "smith", "engineer", "officer", "tech")

CONDITIONS: Final = as_set(
    "diabetes asthma epilepsy migraine migraines arthritis adhd add autism dyslexia dyspraxia eczema psoriasis"
    " hypertension anaemia anemia depression anxiety insomnia tinnitus endometriosis fibromyalgia scoliosis sciatica"
    " gout ibs crohn's lupus hypothyroidism hyperthyroidism cancer dementia alzheimer's parkinson's glaucoma ptsd ocd"
    " bipolar vertigo hayfever pcos hiv osteoporosis hepatitis hemophilia haemophilia narcolepsy vitiligo rosacea"
    " bronchitis copd cataracts gerd reflux angina arrhythmia rheumatism celiac coeliac lymphoma leukaemia leukemia"
)
AFFLICTED: Final = as_set(
    "diabetic asthmatic epileptic autistic dyslexic dyspraxic coeliac celiac anaemic anemic blind deaf colour-blind"
    " color-blind colourblind colorblind pregnant bipolar claustrophobic arachnophobic hypermobile immunocompromised"
    " insulin-dependent lactose-intolerant gluten-intolerant disabled paraplegic short-sighted near-sighted"
)
DIETS: Final = as_set("vegan vegetarian veggie pescatarian flexitarian fruitarian keto paleo halal kosher")
MEDICINES: Final = as_set(
    "warfarin insulin metformin ibuprofen antidepressants lithium statins methotrexate levothyroxine prednisone"
    " sertraline fluoxetine ritalin chemo chemotherapy dialysis beta-blockers antihistamines"
)

DEVICES: Final = as_set(
    "pacemaker wheelchair crutches inhaler epipen walker cane prosthesis stoma glasses braces catheter defibrillator"
) | {"hearing aids", "hearing aid", "cochlear implant", "insulin pump", "guide dog", "guide cane"}

NOT_A_NAME: Final = as_set(
    "no not what who where when why how which yes ok okay hi hello hey thanks thank please sorry the a an this that"
    " these those it its he she they we you i i'm i've my our your his her their and or but if so is are was were do"
    " does did can could would should will just only also then now here there from about with without for at in on"
    " monday tuesday wednesday thursday friday saturday sunday january february march april june july august september"
    " october november december christmas easter english german french spanish italian dutch polish portuguese greek"
    " turkish russian chinese japanese korean swedish danish norwegian finnish irish welsh scottish american british"
    " canadian indian mexican brazilian vegan vegetarian muslim catholic jewish christian hindu buddhist god lord dear"
    " mum mom dad mother father gran nan grandma grandad grandpa any some every each both all none one two three four"
    " five six seven eight nine ten  up down over out back anyone someone same great good bad sure new old"
    " right well oh wow lol btw fyi asap pdf ai usa uk eu us"
)
"""Words that are never a person's name, however they are spelled."""

IRREGULAR_PAST: Final = as_set(
    "was were had did went came saw said told got took found felt thought knew began ran sat stood left lost met made"
    " gave heard fell woke drove flew kept brought bought ate drank slept spent broke caught held led let paid put rode"
    " sang sent shook spoke swam taught threw understood wore won wrote chose grew became quit sold built hurt cut set"
    " hit bred blew used drew dug fed fought forgot forgave froze hid laid lent lit meant rang rose shot shut sank"
    " stuck stole struck swore tore split misspoke bred been gone done taken written given seen known grown"
    " chosen driven broken"
)
NO_EMPLOYER: Final = as_set(
    "master's masters phd postdoc degree course studies internship apprenticeship traineeship scholarship sabbatical"
    " job"
)
"""What people move for, and don't work for."""
ING_NOUNS: Final = as_set(
    "thing morning evening nothing something anything everything wedding building king ring spring string sibling"
    " ceiling"
)
"""They end like a verb, and are none."""
PARTICIPLES: Final = as_set(
    "been gone done taken given seen known grown written spoken broken chosen driven eaten fallen flown forgotten"
    " ridden shown stolen thrown worn begun drunk sung swum"
)
"""They need “have” where a sentence leaves it out: “seen Carmen three times”."""
NOT_PAST: Final = as_set(
    "need feed speed exceed proceed succeed indeed bleed breed weed embed shed red bed led seed deed heed reed sled"
    " fred ahmed hamed jared mohamed mohammed muhammed reed aged widowed"
)

OPENERS: Final = as_set(
    "live work study love like enjoy hate prefer want need own have drive play speak teach run use take keep eat drink"
    " cook bake grow collect write read paint sing train swim cycle walk hike volunteer manage lead build sell make"
    " rent share travel commute go get wake sleep smoke plan hope aim intend dislike avoid know wear watch listen bike"
    " climb sew knit ski surf dance row sail fish hunt ride breed foster coach tutor translate design code adore"
    " loathe fly"
)
"""Verbs in their plain form, by which “and …” continues the claim before."""
THIRD: Final = (
    OPENERS
    | {f"{verb}s" for verb in OPENERS}
    | as_set(
        "is are was were has do does did can cannot can't could will won't would must may might isn't aren't wasn't"
        " weren't hasn't haven't hadn't doesn't don't didn't couldn't studies teaches watches coaches goes dances died"
        " passed moved left lost lived worked studied got became started finished broke bought sold retired married"
        " graduated turned came went closed opened cost costs pays paid leaves arrives stays visits expects looks"
        " belongs weighs needs hurts clicks supports serves starts ends begins finishes turns comes keeps gave taught"
        " raised built wrote won ran took had calls called means says thinks closes opens sells shares tastes smells"
        " feels"
    )
)
"""Verbs that may end a subject of several words: “my oldest friend | lives”."""
ADVERBS: Final = as_set(
    "also always never usually often sometimes mostly really just now still currently recently already even only"
    " actually both all finally generally normally typically absolutely definitely rarely hardly mainly basically"
    " officially originally probably occasionally regularly literally kinda simply first then too ever"
    " quite nearly almost"
)
NEVER_LAST: Final = as_set(
    "and or but the a an to of with in on at for by from as so because that which who i if my their user's"
    " is are was has obviously currently"
    " than into about when where while like really very just also not i'm its his her this whose"
)
"""Words that no sentence, and no subject, ends with."""
