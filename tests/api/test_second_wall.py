"""To Bob nothing of Alice's is there by the API, with every `for_user` filter taken away."""

import pytest

from tests.api.test_isolation import (
    test_no_id_of_alices_in_a_body_or_query_of_bobs_opens_anything,
    test_no_list_of_bobs_holds_anything_of_alices,
    test_no_row_of_alices_is_there_for_bob,
)

__all__ = [
    "test_no_id_of_alices_in_a_body_or_query_of_bobs_opens_anything",
    "test_no_list_of_bobs_holds_anything_of_alices",
    "test_no_row_of_alices_is_there_for_bob",
]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("on_this_connection", "without_filters")]
