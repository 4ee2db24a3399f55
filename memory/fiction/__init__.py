"""Fiction: messages whose words aren't the user's own claims, such as stories, role play, exercises and quotations.

Enter at `made_up.made_up`. Pure. May import the network and texts.
"""
