"""Forgetting removes attachments; a forgotten text remains in no file that was attached elsewhere."""

from typing import Any

import pytest

from accounts.deletion import delete_account
from chat.evaluation.stores import tables_with
from chat.forgetting import is_prompt_intact
from chat.models import Attachment
from chat.prompt.assemble import assemble_prompt
from memory.forgetting.execute import forget, preview
from memory.forgetting.targets import Target, What
from memory.models import Fact
from tests.chat.attachments.samples import CONTRACT, answered, draft, image_draft, picture, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("queued")]

STATEMENT = "The tenant Quillfeather pays 940 euros."


def test_a_forgotten_message_takes_its_attachments_along(alice: Any) -> None:
    opened = send(alice, "Please read my lease.", draft(alice), image_draft(alice))
    answered(opened, "It ends in May.")
    staying = draft(alice, "other.md", "Something else")
    send(alice, "And this", staying)

    shown = preview(alice, Target(What.MESSAGE, str(opened.question.pk)))
    assert [one.text for one in shown.going if one.what == "attachment"] == ["lease.md", "plan.png"]
    forget(alice, Target(What.MESSAGE, str(opened.question.pk)), by=alice)

    assert list(Attachment.objects.all()) == [staying]
    assert tables_with("Hildegard", CONTRACT[:30]) == {}


def test_a_forgotten_text_stands_in_no_file_any_more(alice: Any) -> None:
    opened = send(alice, "Who pays?", draft(alice, "tenants.pdf", f"Tenants\n\n{STATEMENT}\n\nSee page 2."))
    answered(opened)
    says_it = image_draft(alice, "photo.png", content=picture(90, 90) + b"Quillfeather")
    fact = Fact.objects.create(user=alice, statement=STATEMENT, status="active")

    forget(alice, Target(What.FACT, str(fact.pk)), by=alice)

    file = Attachment.objects.get(name="tenants.pdf")
    assert STATEMENT not in file.text
    assert "See page 2." in file.text
    assert bytes(file.content).decode() == file.text, "the file it was read from is gone"
    assert file.media_type == "text/plain"
    assert not Attachment.objects.filter(pk=says_it.pk).exists(), "bytes that say it, and no text to mend"


def test_a_word_that_stands_in_a_picture_by_chance_does_not_remove_it(alice: Any) -> None:
    by_chance = image_draft(alice, content=b"\x89PNG\r\n\x1a\n\xff\xfe zan \x00")
    fact = Fact.objects.create(user=alice, statement="Zan is the user's cousin.", status="active")
    forget(alice, Target(What.FACT, str(fact.pk)), by=alice)
    assert Attachment.objects.filter(pk=by_chance.pk).exists()


def test_an_answer_notices_that_what_was_attached_is_forgotten_meanwhile(alice: Any) -> None:
    opened = send(alice, "Look", draft(alice))
    compiled = assemble_prompt(opened)
    assert is_prompt_intact(compiled)
    Attachment.objects.all().delete()
    assert not is_prompt_intact(compiled)


def test_nothing_attached_outlives_the_account(alice: Any, bob: Any) -> None:
    send(alice, "Look", draft(alice), image_draft(alice))
    draft(alice)
    others = draft(bob)
    delete_account(alice)
    assert list(Attachment.objects.all()) == [others]
