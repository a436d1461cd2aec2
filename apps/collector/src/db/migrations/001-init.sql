-- 001 (first schema)

CREATE TABLE event (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  ts INTEGER NOT NULL,
  kind TEXT NOT NULL,
  surface TEXT,
  session TEXT,
  instance_id TEXT,
  identity TEXT,
  principal TEXT,
  text TEXT,
  payload TEXT NOT NULL,
  cost_usd REAL,
  billed_cost_usd REAL,
  billed INTEGER NOT NULL,
  injected INTEGER NOT NULL,
  request_id TEXT
);
CREATE INDEX event_by_time ON event (ts);
CREATE INDEX event_by_session ON event (session, ts);
CREATE INDEX event_by_identity ON event (identity, ts);
CREATE INDEX event_by_surface ON event (surface, ts);

-- A conversation as its events tell it.
CREATE TABLE session (
  conversation_key TEXT PRIMARY KEY,
  surface TEXT,
  instance_id TEXT,
  identity TEXT,
  principal TEXT,
  state TEXT NOT NULL,
  -- Time of the event that set the state: an older one that arrives late does not.
  state_at INTEGER NOT NULL,
  first_event_at INTEGER NOT NULL,
  last_event_at INTEGER NOT NULL,
  last_text TEXT,
  last_text_at INTEGER NOT NULL,
  events INTEGER NOT NULL,
  turns INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  billed_cost_usd REAL NOT NULL
);
CREATE INDEX session_by_time ON session (last_event_at);
CREATE INDEX session_running ON session (last_event_at) WHERE state = 'running';

-- Sums per hour. The principal is part of the key (empty: none), so that a stranger who calls himself like a principal
-- is never counted as that principal.
CREATE TABLE usage_rollup (
  bucket_hour INTEGER NOT NULL,
  surface TEXT NOT NULL,
  identity TEXT NOT NULL,
  principal TEXT NOT NULL,
  turns INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cache_read_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  estimated_turns INTEGER NOT NULL,
  cost_usd REAL NOT NULL,
  billed_cost_usd REAL NOT NULL,
  PRIMARY KEY (bucket_hour, surface, identity, principal)
);

CREATE TABLE usage_aux (
  bucket_hour INTEGER NOT NULL,
  surface TEXT NOT NULL,
  feature TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  units TEXT NOT NULL,
  calls INTEGER NOT NULL,
  quantity REAL NOT NULL,
  cost_usd REAL NOT NULL,
  billed_cost_usd REAL NOT NULL,
  PRIMARY KEY (bucket_hour, surface, feature, provider, model, units)
);

-- Facts of which there is one each, by name.
CREATE TABLE fact (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
);
