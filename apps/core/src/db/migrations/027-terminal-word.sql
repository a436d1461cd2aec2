-- 027 (code from 022 on still runs): words that were said into sessions in terminals, until they are typed there
-- `is_begun`: they may have been typed.
CREATE TABLE terminal_word (
  id TEXT PRIMARY KEY,
  conversation_key TEXT NOT NULL,
  text TEXT NOT NULL,
  said_by TEXT,
  interrupts INTEGER NOT NULL DEFAULT 0,
  is_begun INTEGER NOT NULL DEFAULT 0,
  said_at INTEGER NOT NULL
);
