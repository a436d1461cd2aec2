-- 004 (code from 001 on still runs): samples of the machine and of our processes, the audit of control actions, and where
-- to find what was sent to people.
CREATE TABLE system_sample (
  at INTEGER PRIMARY KEY,
  sample TEXT NOT NULL
);

-- Never changed but for the outcome, never deleted.
CREATE TABLE control_audit (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT NOT NULL,
  details TEXT NOT NULL,
  outcome TEXT NOT NULL,
  error TEXT,
  finished_at INTEGER
);

CREATE INDEX event_notification ON event (ts) WHERE kind IN ('notification', 'delivery');
