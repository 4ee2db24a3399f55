"""Speech acts: what a user's message does. It states something of their world, states nothing, or makes something up.

Enter at `network.read_act`; `made_up.made_up` follows role plays over messages. The network learns
from `labeled.py`.

May import the network and text. Never reads the database, nor anything but the words it is given.
"""
