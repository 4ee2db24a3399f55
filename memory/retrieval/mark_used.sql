-- Counts one use of each memory; true if one of them was archived. A chunk is of one kind: of a message, a segment or a
-- document.
WITH fact AS (UPDATE memory_fact SET times_used = times_used + 1, last_used_at = %(at)s::timestamptz
    WHERE user_id = %(user)s::bigint AND id = ANY(%(fact)s::bigint[]) RETURNING status),
episode AS (UPDATE memory_episode SET times_used = times_used + 1, last_used_at = %(at)s::timestamptz
    WHERE user_id = %(user)s::bigint AND id = ANY(%(episode)s::bigint[]) RETURNING status),
message AS (UPDATE memory_chunk SET times_used = times_used + 1, last_used_at = %(at)s::timestamptz
    WHERE user_id = %(user)s::bigint AND message_id = ANY(%(message)s::bigint[])),
segment AS (UPDATE memory_chunk SET times_used = times_used + 1, last_used_at = %(at)s::timestamptz
    WHERE user_id = %(user)s::bigint AND segment_id = ANY(%(segment)s::bigint[])),
passage AS (UPDATE memory_chunk SET times_used = times_used + 1, last_used_at = %(at)s::timestamptz
    WHERE user_id = %(user)s::bigint AND id = ANY(%(chunk)s::bigint[]))
SELECT EXISTS (SELECT FROM fact WHERE status = 'archived') OR EXISTS (SELECT FROM episode WHERE status = 'archived')
