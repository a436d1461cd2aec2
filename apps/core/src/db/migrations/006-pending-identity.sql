-- 006 (code from 001 on still runs): senders who were denied because nobody is known by their identifier.
CREATE TABLE pending_identity (
  id TEXT PRIMARY KEY,
  surface TEXT NOT NULL,
  value TEXT NOT NULL,
  name TEXT,
  first_seen INTEGER NOT NULL,
  last_seen INTEGER NOT NULL,
  count INTEGER NOT NULL,
  -- The pairing code last given, and how many were given since when.
  code TEXT,
  code_expires_at INTEGER,
  codes_given INTEGER NOT NULL,
  codes_since INTEGER NOT NULL,
  UNIQUE (surface, value)
);
