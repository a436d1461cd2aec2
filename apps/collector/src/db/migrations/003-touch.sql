-- 003 (code from 001 on still runs): which session touched which path with its tools, for the map of who works where.
CREATE TABLE touch (
  session TEXT NOT NULL,
  path TEXT NOT NULL,
  -- Where the session worked then, for paths that are in no repository.
  cwd TEXT,
  tool TEXT NOT NULL,
  times INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  PRIMARY KEY (session, path)
) WITHOUT ROWID;
CREATE INDEX touch_by_path ON touch (path, session);
CREATE INDEX touch_by_session ON touch (session, last_at);
CREATE INDEX touch_by_time ON touch (last_at);
