-- 031 (code from 022 on still runs): sessions of engines that no conversation goes on with, until the engine has removed what it keeps of them
CREATE TABLE ended_engine_session (
  engine_id TEXT NOT NULL,
  engine_session_id TEXT NOT NULL,
  ended_at INTEGER NOT NULL,
  -- How often its removal failed: those that failed least are tried first.
  failures INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (engine_id, engine_session_id)
) WITHOUT ROWID;
