-- What a user has used today and this month: ended turns, and those that run (limits.py). The index
-- `message_being_written` finds the running ones.
SELECT booked.*, running.* FROM (
    SELECT
        coalesce(sum(turns) FILTER (WHERE day = %(day)s), 0),
        coalesce(sum(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens) FILTER (WHERE day = %(day)s), 0),
        coalesce(sum(cost) FILTER (WHERE day = %(day)s), 0),
        coalesce(sum(turns), 0),
        coalesce(sum(input_tokens + cache_read_tokens + cache_write_tokens + output_tokens), 0),
        coalesce(sum(cost), 0)
    FROM budget_usageday WHERE user_id = %(user)s AND day >= %(month)s
) booked, (
    SELECT
        count(*) FILTER (WHERE created_at >= %(day_began)s),
        count(*) FILTER (WHERE created_at >= %(month_began)s)
    FROM chat_message WHERE user_id = %(user)s AND status = 'streaming'
) running
