-- 005 (code from 001 on still runs): what the engines' own transcripts tell of sessions, and how far each was read.
CREATE TABLE transcript (
  file TEXT PRIMARY KEY,
  engine TEXT NOT NULL,
  engine_session_id TEXT,
  -- Null: not to be shown.
  conversation_key TEXT,
  is_core INTEGER NOT NULL,
  cwd TEXT,
  model TEXT,
  title TEXT,
  is_title_given INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  file_id TEXT NOT NULL,
  size INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  mark TEXT,
  read_to INTEGER NOT NULL,
  is_skipping INTEGER NOT NULL,
  is_whole INTEGER NOT NULL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  last_usage TEXT,
  is_busy INTEGER NOT NULL,
  is_part INTEGER NOT NULL,
  is_interactive INTEGER
);
CREATE INDEX transcript_by_session ON transcript (conversation_key, last_at);
CREATE INDEX transcript_by_engine_session ON transcript (engine_session_id);
CREATE INDEX transcript_by_time ON transcript (last_at);
