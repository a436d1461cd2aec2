-- 032 (code from 022 on still runs): words for a terminal that came with an id of their own are said once, also when they come again after they were typed.
ALTER TABLE terminal_word ADD COLUMN message_id TEXT;
-- `id`: a digest of whose words they are; what was said is not kept.
CREATE TABLE terminal_said (
  id TEXT PRIMARY KEY,
  said_at INTEGER NOT NULL
);
