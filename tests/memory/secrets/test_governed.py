"""What a value is called where it stands decides, and no word elsewhere in the sentence."""

import pytest

from memory.secrets.marked import read_secrets
from memory.secrets.secrets_filter import find_secrets, mask_secrets

ORDINARY = """\
electricity meter today 48213, write it down somewhere. also how do i bleed a radiator
my electricity reading jan 1: 40213, feb 1: 40655. is 442 kWh a lot for two of us
march 1 reading 41002. table of the three please
Name on passport: NGUYEN Thi Bich Hang, first name Hang, and mine is NGUYEN Van Toan. Airline form wants surname first
my number plate is KR 5J812, the parking app wants it each time
The user's number plate is CT-448-KP.
transfer the deposit, amount 1240, reference Smith flat 3B. draft the mail
i forgot the pin for my Visa card, the bank is Santander, branch 0049 in Vigo
postcode is EH6 5NP, the key collection is at Smith & Boyle
country code for Georgia is 995, my cousin's number there is 555 12 34 56
Ich bin 1,78 groß und wiege 81,4, Blutdruck 135/85
treasurer resigned, hall rent up 8%, jumble sale in May. I am the secretary of our village cricket club.
boat trip sounds good! write the invite, in secret-agent style
The gym says my membership number is 40077182 but the app wants an email. Which do I use
Exam board says centre number 61842 and paper code 8461/1H, when is the entries deadline normally
¿Me ayudas a reclamar el pedido 40-118273? Lo pagué el 2 de junio y no ha llegado nada.
the villeurbanne landlord wants 3400 a month, so that's it for the second shop
the catering deposit is paid, we're at 75,000 and that's what we'll spend, full stop.
passed the driving test on third try alhamdulillah!! licence arrives in the post
about us for my bakery in Gdynia: opened in 2019, sourdough and poppy seed cake, two ovens, one grumpy owner
describe my cello: made in Markneukirchen, around 1925, reddish varnish. I'd like to insure it
Reading of the electricity meter for my files: 48213. My customer number with the power people is 7701562
monthly budget pls: rent 1180, phone 25, take home 2900, i wanna put aside 400
sorry no, not the 11th, the 12th. 11th is my ex's. freudian
note: locker 118
wait no, sorry, 16.40, not 6.40. I read it wrong, would have been funny
They took me!!! I start at the library on 1 September, and the pay is 31,500 kroner a month. How do I hand in my \
notice at the garden centre without making Lotte cry?
we let out our annexe to holiday guests, the wifi is called Kestrel-House. can you write a warm welcome note?
rent due on the 5th. bins go out wednesday. spare key is with Abena downstairs. wifi guy hasnt come
ok so here it is. i owe 2300 to Santander and another 900 to my sister and i havent told my wife
making a card for my wallet. allergies: nickel, kiwi. blood type A negative. GP: Dr Osei.
house notes, keep them: bins out thursday, window lock key in blue jug\
""".splitlines()


@pytest.mark.parametrize("text", ORDINARY)
def test_a_number_or_name_that_is_called_something_else_is_no_secret(text: str) -> None:
    assert mask_secrets(text) == text


SECRET = """\
the alarm at my shop (Kwiaty u Zosi) needs a note for the temp girl. code is [secret:4471], then press B
the safe in room 204 opens with [secret:9917], checkout is at 11
dear all, the new code of the staff room is [secret:6650], valid from 1 June, rooms 2.14 and 2.15 stay open
transfer the deposit to [secret:DE89370400440532013000], amount 1240, reference Smith flat 3B. draft the mail
door code changed again, its [secret:7741B] now. my appointment is at 14:30 in room 312
hey so i set the tablet pin to [secret:3390] for grandma, she was born in 1941 so she wont forget, write it big
the lockbox is the grey one left of the meter. [secret:3862]. sorry wrong chat!!
Our au pair starts Monday. Phone contract PIN [secret:6180], tram card in the drawer
key is no longer under the pot, there's a black box by the meter, [secret:6-1-0-9], push the lever down
the pin of my order is [secret:4471], and the password for the ticket is [secret:Tulip!88]
the wifi password on the train is [secret:8814], why is it so slow
the code for flight AB is [secret:55180], says the airline app
[secret:Kumquat77] is my password, we pay 17.99 a month, too much?
el código de la alarma es [secret:6612], escribe una nota para la limpiadora, viene los martes a las 9
collection word for school is [secret:Thimble], tell grandma in a short text""".splitlines()


@pytest.mark.parametrize("line", SECRET)
def test_a_secret_is_masked_and_nothing_beside_it_even_when_masked_again(line: str) -> None:
    message = read_secrets(line)
    text, masked = message.pieces.text, mask_secrets(message.pieces.text)
    wanted = text
    for start, end in reversed(message.spans):
        wanted = f"{wanted[:start]}[secret]{wanted[end:]}"
    assert find_secrets(text)
    assert masked == wanted
    assert mask_secrets(masked) == masked
