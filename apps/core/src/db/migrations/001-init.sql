-- 001 (first schema): who is trusted, which conversations exist.
CREATE TABLE role (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  tier TEXT NOT NULL,
  tool_policy TEXT NOT NULL,
  surfaces TEXT NOT NULL,
  description TEXT NOT NULL
);

CREATE TABLE principal (
  id TEXT PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  display_name TEXT NOT NULL,
  status TEXT NOT NULL,
  bypass_moderation INTEGER NOT NULL,
  notes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);

CREATE TABLE identifier (
  id TEXT PRIMARY KEY,
  principal_id TEXT NOT NULL REFERENCES principal (id) ON DELETE CASCADE,
  surface TEXT NOT NULL,
  value TEXT NOT NULL,
  UNIQUE (surface, value)
);
CREATE INDEX identifier_principal ON identifier (principal_id);

CREATE TABLE trust_grant (
  id TEXT PRIMARY KEY,
  principal_id TEXT NOT NULL REFERENCES principal (id) ON DELETE CASCADE,
  role_id TEXT NOT NULL REFERENCES role (id),
  scope_surface TEXT,
  scope_conversation_key TEXT,
  expires_at INTEGER
);
CREATE INDEX trust_grant_principal ON trust_grant (principal_id);

-- `running` and `queued` are not stored: they live in the turn queue, so a killed process leaves no session stuck.
CREATE TABLE session (
  conversation_key TEXT PRIMARY KEY,
  surface TEXT NOT NULL,
  instance_id TEXT,
  principal_id TEXT,
  engine_id TEXT,
  engine_session_id TEXT,
  model TEXT,
  title TEXT,
  claimed_by TEXT,
  last_announce_id INTEGER NOT NULL DEFAULT 0,
  outbound_instance_id TEXT,
  outbound_target TEXT,
  multiplexer TEXT,
  tmux_target TEXT,
  cwd TEXT,
  turns INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0,
  output_tokens INTEGER NOT NULL DEFAULT 0,
  cost_usd REAL NOT NULL DEFAULT 0,
  -- Fencing number of the running turn: a turn that lost its place cannot write over a later one.
  fence INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_active_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX session_recent ON session (last_active_at DESC);

-- Messages seen but not answered; they are context of the key's next turn.
CREATE TABLE observed_message (
  id INTEGER PRIMARY KEY,
  conversation_key TEXT NOT NULL,
  sender TEXT NOT NULL,
  text TEXT NOT NULL,
  at INTEGER NOT NULL
);
CREATE INDEX observed_message_key ON observed_message (conversation_key, id);
