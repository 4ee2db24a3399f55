"""The system section fits what each plan has for it: a plan with little room sends a short prompt and short tools."""

from typing import Any
from uuid import uuid4

import pytest

from accounts.models import User
from budget.planning.plan import PLANS, Section
from budget.planning.user_plan import save
from chat.prompt.assemble import AssembledPrompt, assemble_prompt
from chat.prompt.system_prompt import PROMPTS, SHORT_SYSTEM_PROMPT, SYSTEM_PROMPT
from chat.tools.registry import TOOLS_BY_NAME
from chat.turns.intake import accept_message
from memory.models import Boundary
from offline.protocol.models import MODELS
from offline.protocol.prompt import read_prompt

pytestmark = pytest.mark.django_db
SYSTEM = (Section.SYSTEM_PROMPT, Section.BOUNDARIES)


def prompt_of(user: User, plan: str) -> AssembledPrompt:
    """The prompt of a first message with this plan."""
    save(user, plan, None, None, {})
    return assemble_prompt(accept_message(user, uuid4(), None, "Where do I live?"))


@pytest.mark.parametrize("plan", PLANS)
def test_the_system_section_fits_what_the_plan_has_for_it(alice: User, plan: str) -> None:
    prompt = prompt_of(alice, plan)
    planned = prompt.inputs.budget.plan.ceilings[Section.SYSTEM_PROMPT]

    assert Boundary.objects.filter(user=None).exists()
    assert sum(piece.tokens for piece in prompt.fitted.kept if piece.section in SYSTEM) <= planned


@pytest.mark.parametrize("plan", PLANS)
def test_it_also_fits_by_the_count_of_a_provider(alice: User, plan: str) -> None:
    request = prompt_of(alice, plan).request
    model = request["model"] if request["model"] in MODELS else next(iter(MODELS))
    counted = read_prompt({**request, "model": model, "messages": [{"role": "user", "content": ""}]}, MODELS[model])

    assert counted.total <= PLANS[plan].ceilings[Section.SYSTEM_PROMPT]  # type: ignore[operator]  # none is a share


def test_only_a_plan_without_room_gets_the_short_prompt(alice: User) -> None:
    assert prompt_of(alice, "small").request["system"][0]["text"].startswith(SHORT_SYSTEM_PROMPT)
    assert prompt_of(alice, "standard").request["system"][0]["text"].startswith(SYSTEM_PROMPT)


def test_short_tools_are_called_as_the_full_ones_are(alice: User) -> None:
    short: list[Any] = prompt_of(alice, "small").request["tools"]

    assert {"remember", "search_conversation", "search_knowledge"} <= {tool["name"] for tool in short}
    for tool in short:
        full: Any = TOOLS_BY_NAME[tool["name"]].definition["input_schema"]
        assert tool["input_schema"]["required"] == full["required"]
        assert tool["input_schema"]["properties"].keys() == set(full["required"])


def test_every_prompt_has_a_version_of_its_own() -> None:
    assert len(set(PROMPTS.values())) == len(PROMPTS) == 2
