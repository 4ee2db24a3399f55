"""What a run writes into documents: lines on a subject, a conversation digest, stories; each exactly once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from chat.ingest import librarian_triggers as chat_reading
from chat.models import Conversation, Message
from memory import tasks
from memory.documents import revisions, tree
from memory.documents.profile_updates import refresh_profile
from memory.forgetting.execute import forget
from memory.forgetting.targets import Target, What
from memory.librarian.engine import Extraction, ExtractionInput, Folder, ProposedDocument, ProposedLine, ProposedStory
from memory.librarian.run import request_reading, run_extraction
from memory.models import Document, Episode, Fact, LibrarianRun, Revision

pytestmark = pytest.mark.usefixtures("queued")

GARDEN = "The kitchen garden gets morning sun, and I plant tomatoes in the north bed."
STORY = (
    "Let me tell you what happened last summer. My sister Mary and I took the night train to Lisbon. We lost our bags"
    " at the border, and the conductor gave us his own coat because it was freezing. Mary cried a little, then she"
    " laughed. In the morning we found the bags on the wrong platform, and an old man said “they waited for you”."
    " We still talk about that coat."
)


def say(user: User, *texts: str, title: str = "", conversation: Conversation | None = None) -> Conversation:
    """A conversation in which the user says `texts`, each answered; or more of one."""
    conversation = conversation or Conversation.objects.create(user=user, title=title)
    leaf = conversation.active_leaf
    for text in texts:
        for role, event, words in (
            ("user", "user_message", text),
            ("assistant", "assistant_response", "I see. A robot once lived in Atlantis, and we went there last year."),
        ):
            seq = conversation.next_seq
            leaf = Message.objects.create(
                user=user, conversation=conversation, seq=seq, parent=leaf, turn=(seq + 1) // 2, role=role,
                event_type=event, text=words,
            )  # fmt: skip
            conversation.active_leaf, conversation.next_seq = leaf, seq + 1
    conversation.save()
    return conversation


def reading_of(conversation: Conversation, trigger: str = "turns", first: int = 1) -> LibrarianRun:
    run = request_reading(conversation.user_id, conversation.pk, first, conversation.next_seq - 1, trigger)
    assert run is not None
    run_extraction(run.pk)
    run.refresh_from_db()
    assert run.state == LibrarianRun.State.DONE, run.error
    return run


def learn(user: User, *texts: str, trigger: str = "turns") -> LibrarianRun:
    return reading_of(say(user, *texts), trigger)


def text(user: User, path: str) -> str:
    document: Document = Document.objects.for_user(user).get(path=path)
    return document.text


def paths(user: User) -> list[str]:
    return sorted(Document.objects.for_user(user).values_list("path", flat=True))


def garden(
    *lines: ProposedLine, title: str = "Kitchen garden", topic: str = ""
) -> Callable[[ExtractionInput], Extraction]:
    proposal = ProposedDocument(folder=Folder.PROJECTS, title=title, topic=topic, lines=lines or (SUN,))
    return lambda reading: Extraction(documents=[proposal])


SUN = ProposedLine(text="The kitchen garden gets morning sun.", quote="The kitchen garden gets morning sun", number=1)
TOMATOES = ProposedLine(text="The user plants tomatoes in the north bed.", quote="I plant tomatoes", number=1)


# Facts in the profile --------------------------------------------------------------------------------------------


def test_what_is_learned_stands_in_the_profile_with_the_run(alice: User) -> None:
    learn(alice, "I live in Porto.")
    fact = Fact.objects.get()
    assert text(alice, "/profile/identity").endswith(f"^fact-{fact.pk}")


def test_a_line_a_person_took_out_is_asked_about_when_it_is_said_again(alice: User) -> None:
    learn(alice, "I live in Porto.")
    revisions.save(alice, "/profile/identity", "", started_from=1)
    learn(alice, "I live in Porto.")
    learn(alice, "I live in Porto!")
    refresh_profile(alice)
    assert text(alice, "/profile/identity") == ""
    assert [fact.status for fact in Fact.objects.order_by("pk")] == [Fact.Status.REJECTED, Fact.Status.PROPOSED]


def test_existing_accounts_get_their_lines_with_the_next_run(alice: User) -> None:
    fact = Fact.objects.create(
        user=alice, statement="The user sings.", kind="biography", status="active", importance=0.6
    )
    learn(alice, "What a day.")
    assert text(alice, "/profile/identity") == f"- Sings. ^fact-{fact.pk}"


# Lines on a subject ----------------------------------------------------------------------------------------------


def test_lines_that_rest_on_the_users_words_are_written_with_their_message(alice: User, use: Any) -> None:
    use(garden(SUN, TOMATOES))
    learn(alice, GARDEN)
    said = Message.objects.get(role="user").pk
    assert text(alice, "/projects/Kitchen garden") == (f"- {SUN.text} ^said-{said}\n- {TOMATOES.text} ^said-{said}")
    revision = Revision.objects.get(document__path="/projects/Kitchen garden", number=1)
    assert revision.author == Revision.Author.LIBRARIAN


def test_a_line_that_rests_on_nothing_waits_and_is_not_written(alice: User, use: Any) -> None:
    invented = ProposedLine(text="The user grows melons.", quote="I grow melons", number=1)
    echoed = ProposedLine(text="A robot lived in Atlantis.", quote="A robot once lived in Atlantis", number=2)
    use(garden(invented, echoed))
    run = learn(alice, GARDEN)
    assert [fact.status for fact in Fact.objects.all()] == [Fact.Status.PROPOSED] * 2
    assert (run.waiting, paths(alice)) == (2, [])


def test_a_line_with_a_secret_is_dropped(alice: User, use: Any) -> None:
    card = ProposedLine(text="The card is 4111 1111 1111 1111.", quote="my card is 4111 1111 1111 1111", number=1)
    use(garden(card))
    learn(alice, "my card is 4111 1111 1111 1111")
    assert (Fact.objects.count(), paths(alice)) == (0, [])


def test_a_line_is_written_once_and_never_again_after_a_person_took_it_out(alice: User, use: Any) -> None:
    use(garden(SUN, TOMATOES))
    learn(alice, GARDEN)
    learn(alice, GARDEN)
    path = "/projects/Kitchen garden"
    assert Revision.objects.filter(document__path=path).count() == 1
    revisions.save(alice, path, "Mine.\n- The garden gets sun at dawn.", started_from=1)
    learn(alice, GARDEN)
    assert text(alice, path) == "Mine.\n- The garden gets sun at dawn."


@pytest.mark.parametrize(
    "title", ["Kitchen garden", "My kitchen gardens", "Garden, kitchen", "The kitchen garden plan"]
)
def test_a_document_on_the_same_subject_is_found_by_its_words(alice: User, use: Any, title: str) -> None:
    revisions.save(alice, "/projects/Kitchen garden", "My own prose.", started_from=0)
    use(garden(SUN, title=title))
    learn(alice, GARDEN)
    assert paths(alice) == ["/projects/Kitchen garden"]
    assert text(alice, "/projects/Kitchen garden").startswith("My own prose.\n\n- ")


def test_a_document_on_the_same_subject_is_found_by_its_meaning(alice: User, use: Any) -> None:
    revisions.save(alice, "/projects/Vegetable garden", "Mine.", started_from=0)
    use(garden(SUN, title="Veggie garden"))
    learn(alice, GARDEN)
    assert paths(alice) == ["/projects/Vegetable garden"]


def test_another_subject_gets_a_document_of_its_own(alice: User, use: Any) -> None:
    revisions.save(alice, "/projects/Marathon training", "Mine.", started_from=0)
    use(garden(SUN))
    learn(alice, GARDEN)
    assert paths(alice) == ["/projects/Kitchen garden", "/projects/Marathon training"]


def test_a_folder_that_is_there_is_used_before_a_new_one_is_made(alice: User, use: Any) -> None:
    revisions.save(alice, "/projects/House/Roof", "Tiles.", started_from=0)
    use(garden(SUN, topic="The house"))
    learn(alice, GARDEN)
    assert "/projects/House/Kitchen garden" in paths(alice)


def test_a_document_that_was_moved_and_renamed_is_added_to_where_it_is(alice: User, use: Any) -> None:
    use(garden(SUN))
    learn(alice, GARDEN)
    tree.move(alice, "/projects/Kitchen garden", "/home/Allotment")
    use(garden(TOMATOES))
    learn(alice, GARDEN)
    assert paths(alice) == ["/home/Allotment"]
    assert TOMATOES.text in text(alice, "/home/Allotment")


def test_a_synchronized_file_on_the_subject_is_not_written_into(alice: User, use: Any) -> None:
    origin = revisions.Origin(Document.Source.SYNC, "notes:garden", "hash")
    revisions.add(alice, "/projects/Kitchen garden", "From a file.", Revision.Author.SYNC, origin)
    use(garden(SUN))
    learn(alice, GARDEN)
    assert paths(alice) == ["/projects/Kitchen garden", "/projects/Kitchen garden (2)"]
    assert text(alice, "/projects/Kitchen garden") == "From a file."


def test_the_engine_is_told_of_documents_it_may_add_to(alice: User, bob: User, use: Any) -> None:
    revisions.save(alice, "/projects/Kitchen garden", "Mine.", started_from=0)
    revisions.save(bob, "/projects/Boat", "His.", started_from=0)
    engine = use(lambda reading: Extraction())
    learn(alice, GARDEN)
    assert engine.readings[0].documents == ["/projects/Kitchen garden"]


# A conversation in short -----------------------------------------------------------------------------------------


def test_an_ended_conversation_has_a_document_of_its_month_and_title(alice: User) -> None:
    conversation = say(alice, "We decided to plant roses along the wall.", title="Räume/Garten 🌹")
    reading_of(conversation, "ended")
    (path,) = [path for path in paths(alice) if path.startswith("/conversations/")]
    assert path == f"/conversations/{conversation.started_at.astimezone(alice.zone):%Y-%m}-Räume Garten 🌹"
    told = text(alice, path)
    assert "- “We decided to plant roses along the wall.”" in told
    assert f"/c/{conversation.pk}" in told
    assert "Atlantis" not in told


def test_two_conversations_of_one_title_have_a_document_each(alice: User) -> None:
    for _ in range(2):
        reading_of(say(alice, "We decided to plant roses.", title="Garden"), "ended")
    assert len([path for path in paths(alice) if path.startswith("/conversations/")]) == 2


@pytest.mark.parametrize(("trigger", "turns", "has_one"), [("turns", 6, False), ("idle", 2, False), ("idle", 3, True)])
def test_which_pauses_are_worth_a_document(alice: User, trigger: str, turns: int, has_one: bool) -> None:
    learn(alice, *(f"We decided to plant roses in bed {n}." for n in range(turns)), trigger=trigger)
    assert any(path.startswith("/conversations/") for path in paths(alice)) == has_one


def test_a_conversation_that_goes_on_is_brought_up_to_date_and_a_persons_changes_stay(alice: User) -> None:
    conversation = say(alice, "We decided to plant roses.", "I will buy a spade tomorrow.", title="Garden")
    reading_of(conversation, "ended")
    (path,) = [path for path in paths(alice) if path.startswith("/conversations/")]
    before = text(alice, path)
    assert "buy a spade" in before
    own = "\n".join(line for line in before.split("\n") if "spade" not in line) + "\nMy own remark."
    revisions.save(alice, path, own, started_from=1)
    say(alice, "We decided to plant tulips, too.", conversation=conversation)
    reading_of(conversation, "ended", first=5)
    say(alice, "We agreed to water them on Sundays.", conversation=conversation)
    reading_of(conversation, "ended", first=7)
    now = text(alice, path)
    assert "tulips" in now
    assert "water them" in now
    assert "roses" in now
    assert [line for line in now.split("\n") if "spade" in line and line.startswith("- ")] == []
    assert now.count("My own remark.") == 1
    assert [one.split("/")[1] for one in paths(alice)].count("conversations") == 1


def test_a_moved_conversation_document_stays_where_it_is(alice: User) -> None:
    conversation = say(alice, "We decided to plant roses.", title="Garden")
    reading_of(conversation, "ended")
    (path,) = [path for path in paths(alice) if path.startswith("/conversations/")]
    tree.move(alice, path, "/archive/roses")
    say(alice, "We decided to plant tulips.", conversation=conversation)
    reading_of(conversation, "ended", first=3)
    assert "tulips" in text(alice, "/archive/roses")
    assert not [path for path in paths(alice) if path.startswith("/conversations/")]


def test_ending_a_conversation_asks_for_all_of_it(alice: User) -> None:
    conversation = say(alice, "We decided to plant roses.", title="Garden")
    chat_reading.end(conversation)
    run = LibrarianRun.objects.get()
    run_extraction(run.pk)
    assert any(path.startswith("/conversations/") for path in paths(alice))


def test_a_short_conversation_that_paused_and_is_then_ended_has_one_too(
    alice: User, queued: list[Any], django_capture_on_commit_callbacks: Any
) -> None:
    conversation = say(alice, "We decided to plant roses.", title="Garden")
    reading_of(conversation, "idle")
    Conversation.objects.update(librarian_watermark=conversation.next_seq - 1)
    assert paths(alice) == []
    with django_capture_on_commit_callbacks(execute=True):
        chat_reading.end(conversation)
    (arguments,) = [args for name, args in queued if name == "memory.tasks.file_conversation"]
    for _ in range(2):
        tasks.file_conversation(*arguments)
    assert len(paths(alice)) == 1
    assert Revision.objects.count() == 1
    conversation.delete()
    tasks.file_conversation(*arguments)


@pytest.mark.parametrize("what", ["conversation", "message"])
def test_what_tells_of_something_forgotten_goes_with_it(alice: User, what: str) -> None:
    conversation = say(alice, STORY, "We decided to plant roses.", title="Garden")
    reading_of(conversation, "ended")
    said = Message.objects.filter(role="user").earliest("seq")
    assert {path.split("/")[1] for path in paths(alice)} >= {"conversations", "stories"}
    target = Target(What(what), str(conversation.pk if what == "conversation" else said.pk))
    forget(alice, target, by=alice)
    assert not Document.objects.filter(external_id__startswith="story:").exists()
    assert Document.objects.filter(external_id__startswith="conversation:").exists() == (what == "message")
    assert not Revision.objects.filter(text__contains="that coat").exists()


# Stories ---------------------------------------------------------------------------------------------------------


def test_a_story_keeps_the_users_own_words(alice: User) -> None:
    learn(alice, f"Hello there!\n\n{STORY}\nWhat do you make of it?")
    (path,) = [path for path in paths(alice) if path.startswith("/stories/")]
    document = Document.objects.get(path=path)
    said = Message.objects.get(role="user")
    assert document.text.startswith(STORY)
    assert document.title == "My sister Mary and I took the night train…"
    assert f"/m/{said.pk}" in document.text
    assert "With Mary." in document.text
    assert document.text.endswith(f"^said-{said.pk}")
    assert "What do you make" not in document.text


def test_a_story_is_captured_once_and_a_person_may_change_it(alice: User) -> None:
    conversation = say(alice, STORY)
    reading_of(conversation)
    (path,) = [path for path in paths(alice) if path.startswith("/stories/")]
    revisions.save(alice, path, "Shorter.", started_from=1)
    reading_of(say(alice, "Thank you.", conversation=conversation), "ended")
    assert text(alice, path) == "Shorter."
    assert len([one for one in paths(alice) if one.startswith("/stories/")]) == 1


@pytest.mark.parametrize(
    "message",
    [
        f"Proofread this: {STORY}",
        f"Here's the story I found:\n> {STORY}",
        f'My aunt wrote: "{STORY}"',
        f"Write a story in which this happens. {STORY}",
        "I went to the shop. It was closed. I came home.",
        "Let me tell you what happened: the build failed.",
        "Could you tell me what happened last summer in Lisbon?",
    ],
    ids=["to work on", "pasted", "quoted", "made up", "too short", "a remark", "a question"],
)
def test_what_is_no_story_of_the_users_is_not_captured(alice: User, message: str) -> None:
    learn(alice, message)
    assert not [path for path in paths(alice) if path.startswith("/stories/")]


def test_a_long_narrative_is_a_story_unannounced_and_a_long_report_is_none(alice: User) -> None:
    tale = " ".join(
        f"In year {n} we moved to another house and my father painted it himself, and I was proud." for n in range(9)
    )
    report = " ".join(
        f"Step {n} is slow and the query takes {n} seconds, so we need an index on it." for n in range(15)
    )
    learn(alice, tale)
    learn(alice, report)
    assert len([path for path in paths(alice) if path.startswith("/stories/")]) == 1


@pytest.mark.parametrize("speaker", [1, 2], ids=["the user's", "the assistant's"])
def test_an_engines_story_is_kept_only_where_the_user_told_it(alice: User, use: Any, speaker: int) -> None:
    begins, ends = ("Let me tell you", "that coat.") if speaker == 1 else ("I see.", "last year.")
    story = ProposedStory(
        title="The coat", number=speaker, begins=begins, ends=ends, people=("Mary",), when="last summer"
    )
    use(lambda reading: Extraction(stories=[story, story]))
    run = learn(alice, STORY)
    assert paths(alice) == (["/stories/The coat"] if speaker == 1 else [])
    assert sum(run.dropped.values()) == (0 if speaker == 1 else 2)


# Episodes by rule ------------------------------------------------------------------------------------------------


def test_the_rules_tell_one_episode_with_its_kind_and_its_facts(alice: User) -> None:
    learn(alice, "My sister Mary lives in Lisbon.", "I'm so happy, we finally decided to move to Lisbon.", "Thanks!")
    episode = Episode.objects.get()
    assert (episode.kind, episode.outcome, episode.tone) == ("decision_made", "success", "happy")
    assert episode.title == "Decided to move to Lisbon"
    assert "we finally decided to move to Lisbon" in episode.summary
    assert (episode.first_turn, episode.last_turn, episode.valence) == (1, 2, 0.8)
    assert set(episode.facts.all()) == set(Fact.objects.filter(message__turn__lte=2))
    assert 0 < episode.significance < 0.7


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("I finally fixed the login page.", "problem_solved"),
        ("We submitted the grant application.", "task_completed"),
        ("I changed my mind about the red sofa.", "pivot"),
        ("It turns out the pump leaks at the seal.", "issue_identified"),
        ("We finally understand why the pump leaks.", "breakthrough"),
    ],
)
def test_each_kind_has_its_cues(alice: User, said: str, kind: str) -> None:
    learn(alice, "Good morning.", said)
    assert Episode.objects.get().kind == kind


@pytest.mark.parametrize(
    "said",
    [
        "If we decided to move, it would be to Lisbon.",
        "Have we decided to move to Lisbon?",
        "My boss says we decided to move to Lisbon.",
        "I think we decided to move to Lisbon.",
        "Tell me about the weather in Lisbon.",
        "We decided to move to Lisbon in 2009.",
        'The book says "we decided to move to Lisbon".',
    ],
)
def test_what_did_not_happen_is_no_episode(alice: User, said: str) -> None:
    learn(alice, "Good morning.", said)
    assert not Episode.objects.exists()


def test_what_happened_in_one_exchange_is_no_episode(alice: User) -> None:
    learn(alice, "We finally decided to move to Lisbon.")
    assert not Episode.objects.exists()


# Exactly once ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["write_lines", "write_stories", "write_digest"])
def test_a_worker_killed_while_filing_leaves_nothing_and_the_next_one_files_it_once(
    alice: User, use: Any, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    from memory.librarian import document_updates

    story = ProposedStory(title="The coat", number=1, begins="Let me tell", ends="that coat.")
    line = ProposedLine(text="The user took a night train.", quote="took the night train to Lisbon", number=1)
    use(lambda reading: Extraction(stories=[story], documents=garden(line)(reading).documents))
    conversation = say(alice, STORY, "We decided to write it down.", title="Coat")
    run = request_reading(alice.pk, conversation.pk, 1, 4, "ended")
    assert run is not None
    with monkeypatch.context() as patched:
        patched.setattr(document_updates, place, killed)
        with pytest.raises(KeyboardInterrupt):
            run_extraction(run.pk)
    assert paths(alice) == []
    LibrarianRun.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    run_extraction(run.pk)
    run_extraction(run.pk)
    assert [path.split("/")[1] for path in paths(alice)] == ["conversations", "projects", "stories"]
    assert Revision.objects.count() == 3


def killed(*args: object, **more: object) -> None:
    raise KeyboardInterrupt


def test_bob_reads_nothing_of_it(alice: User, bob: User, sign_in: Any) -> None:
    learn(alice, STORY, trigger="ended")
    for path in paths(alice):
        assert sign_in(bob).get("/api/v1/memory/document", {"path": path}).status_code == 404
