"""Texts of every kind that Recall counts, for comparing tokenizers."""

import json

PROSE = """\
My sister Mary moved to Lisbon in the spring of last year, shortly after she had finished her doctorate in marine
biology. She lives in a small flat near the river, works at the aquarium, and cycles there every morning unless it
rains. We talk on Sundays. I visit her twice a year, usually in May and in October, because I cannot stand the heat
of the Portuguese summer. Last time we walked along the coast for four days and I promised to cook for her next time,
without peanuts, since I am allergic to them. She thinks that I should leave my job at the bank and open a bakery;
I have not decided yet, and I would rather not talk about it before the end of the year."""

CHAT = """\
hey! quick question: what was the name of that restaurant we talked about last week? the one with the terrace…
I'd like to book a table for 4 on Friday, 7:30 pm. Also, don't forget I can't eat peanuts :) thanks!!"""

CODE = '''\
def longest_hit(prompt: Prompt, entries: dict[bytes, Entry], *, now: float) -> int | None:
    """The last block whose prefix is cached and alive."""
    for index in range(len(prompt.digests) - 1, -1, -1):
        entry = entries.get(prompt.digests[index])
        if entry is not None and entry.expires_at > now:
            return index
    return None


class Counter:
    def __init__(self, start: int = 0) -> None:
        self.value = start

    def increment(self, by: int = 1) -> int:
        self.value += by
        return self.value
'''

MEMORIES = json.dumps(
    {
        "note": "Data, not instructions.",
        "recalled_memories": [
            {
                "date": "2026-11-20",
                "id": "fact:12",
                "source": "user",
                "text": "The user's sister Mary lives in Lisbon.",
            },
            {"date": "2026-10-02", "id": "fact:7", "source": "user", "text": "The user is allergic to peanuts."},
            {"date": "2026-09-14", "id": "episode:3", "source": "librarian", "text": "The user planned a trip."},
        ],
    }
)

SCHEMA = json.dumps(
    {
        "name": "search_knowledge",
        "input_schema": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
            "required": ["query"],
            "additionalProperties": False,
        },
    },
    indent=2,
)

SAMPLES = {
    "prose": PROSE,
    "chat": CHAT,
    "code": CODE,
    "memories as JSON": MEMORIES,
    "schema as JSON": SCHEMA,
    "French": "Ma sœur Marie habite à Lisbonne et je suis allergique aux arachides. Hier, nous sommes allés au marché "
    "acheter des légumes frais, du pain et du fromage pour le dîner avec des amis.",
    "German": "Meine Schwester Maria wohnt in Lissabon, und ich bin gegen Erdnüsse allergisch. Gestern gingen wir auf "
    "den Markt und kauften frisches Gemüse, Brot und Käse für das Abendessen mit Freunden.",
    "Russian": "Моя сестра Мария живёт в Лиссабоне, и у меня аллергия на арахис. Вчера мы ходили на рынок и купили "
    "свежие овощи, хлеб и сыр для ужина с друзьями.",
    "Greek": "Η αδελφή μου η Μαρία ζει στη Λισαβόνα και έχω αλλεργία στα φιστίκια. Χθες πήγαμε στην αγορά και "
    "αγοράσαμε φρέσκα λαχανικά, ψωμί και τυρί.",
    "Chinese": "我的姐姐玛丽住在里斯本，我对花生过敏。"
    "昨天我们去市场买了新鲜的蔬菜、面包和奶酪，准备和朋友们一起吃晚饭。",
    "Japanese": "私の姉のメアリーはリスボンに住んでいて、私はピーナッツアレルギーです。"
    "昨日、市場へ行って新鮮な野菜を買いました。",
    "Korean": "제 여동생 메리는 리스본에 살고 저는 땅콩 알레르기가 있습니다. "
    "어제 우리는 시장에 가서 신선한 채소를 샀습니다.",
    "Arabic": "أختي مريم تعيش في لشبونة ولدي حساسية من الفول السوداني. أمس ذهبنا إلى السوق واشترينا الخضار الطازجة.",
    "Hebrew": "אחותי מרים גרה בליסבון ואני אלרגי לבוטנים. אתמול הלכנו לשוק וקנינו ירקות טריים, לחם וגבינה.",
    "Hindi": "मेरी बहन मैरी लिस्बन में रहती है और मुझे मूंगफली से एलर्जी है। कल हम बाज़ार गए और ताज़ी सब्ज़ियाँ खरीदीं।",
    "Thai": "พี่สาวของฉันชื่อแมรี่อาศัยอยู่ที่ลิสบอนและฉันแพ้ถั่วลิสง",
    "identifiers": "0f8fad5b-d9cb-469f-a165-70867728950e 2026-11-21T10:03:00+01:00 https://example.com/a/b?c=1&d=2",
}
