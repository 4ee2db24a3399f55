-- Gives the messages' chunks of a conversation, at `places` (null: all) and near them, their words and their neighbors'.
-- Rows are numbered by position first, so that only those near the changed ones are parsed again. The conversation's
-- owner decides which stemmer is used.
WITH positions AS (
    SELECT id, place, row_number() OVER (ORDER BY place, number) AS position
    FROM memory_chunk WHERE conversation_id = %(conversation)s AND kind = 'message'
), changed AS (
    SELECT min(position) - %(reach)s AS first, max(position) + %(reach)s AS last
    FROM positions WHERE %(places)s::bigint[] IS NULL OR place = ANY(%(places)s::bigint[])
), own AS (
    SELECT positions.id, position, to_tsvector((SELECT language::regconfig FROM accounts_user WHERE id = (
        SELECT user_id FROM memory_chunk WHERE conversation_id = %(conversation)s LIMIT 1)), concat_ws(': ', nullif(author, ''), text)) AS words
    FROM positions JOIN memory_chunk USING (id), changed
    WHERE position BETWEEN changed.first - %(reach)s AND changed.last + %(reach)s
), around AS (
    SELECT id, position, setweight(words, 'A')
        || setweight(coalesce(lag(words) OVER nearby, '') || coalesce(lead(words) OVER nearby, ''), 'B')
        || setweight(coalesce(lag(words, 2) OVER nearby, '') || coalesce(lead(words, 2) OVER nearby, ''), 'C')
        || setweight(coalesce(lag(words, 3) OVER nearby, '') || coalesce(lead(words, 3) OVER nearby, ''), 'D')
        AS words
    FROM own WINDOW nearby AS (ORDER BY position)
)
UPDATE memory_chunk SET search = around.words
FROM around, changed
WHERE memory_chunk.id = around.id AND position BETWEEN changed.first AND changed.last
    AND search IS DISTINCT FROM around.words
