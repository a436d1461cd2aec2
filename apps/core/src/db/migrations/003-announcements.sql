-- 003 (announcements): notes for sessions. AUTOINCREMENT, because a session remembers the newest id it has seen: none is
-- ever given twice, also when all rows are gone.
CREATE TABLE announcement (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  target TEXT NOT NULL,
  priority TEXT NOT NULL,
  from_session TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  text TEXT NOT NULL
);
CREATE INDEX announcement_expiry ON announcement (expires_at) WHERE expires_at IS NOT NULL;
