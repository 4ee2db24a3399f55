-- Counts one use of each memory; what was archived comes back. Not a fact with a key, which may be taken by now, nor an
-- episode beside another of the same turns. A chunk is of one kind: of a message, a segment or a document.
WITH fact AS (UPDATE memory_fact SET times_used = times_used + 1, last_used_at = %(at)s::timestamptz,
    status = CASE WHEN status = 'archived' AND key = '' THEN 'active' ELSE status END,
    reason = CASE WHEN status = 'archived' AND key = '' THEN %(back)s::text ELSE reason END
    WHERE user_id = %(user)s::bigint AND id = ANY(%(fact)s::bigint[])),
episode AS (UPDATE memory_episode SET times_used = times_used + 1, last_used_at = %(at)s::timestamptz,
    status = CASE WHEN status = 'archived' AND NOT EXISTS (
        SELECT FROM memory_episode AS other WHERE other.id <> memory_episode.id AND other.status IN ('live', 'archived')
            AND other.conversation_id = memory_episode.conversation_id
            AND other.first_turn = memory_episode.first_turn AND other.last_turn = memory_episode.last_turn
    ) THEN 'live' ELSE status END
    WHERE user_id = %(user)s::bigint AND id = ANY(%(episode)s::bigint[])),
message AS (UPDATE memory_chunk SET times_used = times_used + 1, last_used_at = %(at)s::timestamptz
    WHERE user_id = %(user)s::bigint AND message_id = ANY(%(message)s::bigint[])),
segment AS (UPDATE memory_chunk SET times_used = times_used + 1, last_used_at = %(at)s::timestamptz
    WHERE user_id = %(user)s::bigint AND segment_id = ANY(%(segment)s::bigint[]))
UPDATE memory_chunk SET times_used = times_used + 1, last_used_at = %(at)s::timestamptz
    WHERE user_id = %(user)s::bigint AND id = ANY(%(chunk)s::bigint[])
