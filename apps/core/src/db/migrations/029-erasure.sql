-- 029 (code from 022 on still runs): people who are being erased, until nothing of them is left to remove
-- No reference: the person is gone before the last of it. What a killed core left is gone on with at the next start.
CREATE TABLE erasure (
  principal_id TEXT PRIMARY KEY,
  display_name TEXT NOT NULL,
  -- Key of the person; announcements name them by it.
  key TEXT NOT NULL,
  -- JSON list of surface and value.
  identifiers TEXT NOT NULL,
  -- 1: conversations in which others spoke, too, stay.
  keeps_shared INTEGER NOT NULL,
  actor TEXT NOT NULL,
  started_at INTEGER NOT NULL
) WITHOUT ROWID;
