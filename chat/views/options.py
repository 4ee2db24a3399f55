"""What a conversation goes by, changed from the menu above it; a plain form, so that it works without JavaScript."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from accounts.models import User
from chat.conversations.model_choice import ModelNotOfferedError
from chat.conversations.options import OptionNotFoundError, initial_fields, update_options
from chat.forms import ChoicesForm, first_error
from chat.models import Conversation
from chat.protocol import ConversationOptions


@require_POST
@login_required
def choose(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Give the conversation another role, project, model or effort."""
    assert isinstance(request.user, User)
    own = Conversation.objects.not_deleted().for_user(request.user).select_related("role", "user")
    conversation: Conversation = get_object_or_404(own, pk=pk)
    form = ChoicesForm(request.POST)
    if not form.is_valid():
        messages.warning(request, f"Nothing was changed. {first_error(form)}")
        return redirect("conversation", pk)
    try:
        fields = initial_fields(
            request.user,
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
