-- 001 (first schema): connector instances
CREATE TABLE instance (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  enabled INTEGER NOT NULL,
  config TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

-- Ids are part of conversation keys, so the number of a deleted instance is never given out again.
CREATE TABLE instance_number (
  type TEXT PRIMARY KEY,
  last INTEGER NOT NULL
);

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
