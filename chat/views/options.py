"""The options of a conversation: role, project, model and effort. A plain form that works without JavaScript."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from chat.conversations.model_choice import ModelNotOfferedError
from chat.conversations.options import OptionNotFoundError, initial_fields, update_options
from chat.forms import ChoicesForm
from chat.pages.conversation import get_own_conversation
from chat.protocol import ConversationOptions
from recall.views import first_error, signed_in_user


@require_POST
@login_required
def choose(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Change the conversation's role, project, model or effort."""
    conversation = get_own_conversation(signed_in_user(request), pk)
    form = ChoicesForm(request.POST)
    if not form.is_valid():
        messages.warning(request, f"Nothing was changed. {first_error(form)}")
        return redirect("conversation", pk)
    try:
        fields = initial_fields(
            conversation.user,
            ConversationOptions(**{name: form.cleaned_data[name] for name in ConversationOptions.__slots__}),
        )
    except OptionNotFoundError:
        raise Http404 from None
    except ModelNotOfferedError as refused:
        messages.warning(request, f"Nothing was changed. {refused}")
        return redirect("conversation", pk)
    changed = update_options(conversation, fields)
    if changed:
        messages.success(request, " ".join(changed))
    return redirect("conversation", pk)
