-- 002 (turn journal): every accepted message with what became of it, and the replies that have to be pushed.
CREATE TABLE turn (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  conversation_key TEXT NOT NULL,
  -- The channel's id of the message; a message with the same one is not run again. Null for what has none.
  message_id TEXT,
  sender TEXT NOT NULL,
  origin TEXT NOT NULL,
  state TEXT NOT NULL,
  -- 1 while there is work left: the turn has to run, or its reply has to be delivered.
  open INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  request_id TEXT NOT NULL,
  text TEXT,
  -- Everything else that the turn was given, until it has ended.
  input TEXT,
  result TEXT,
  error TEXT,
  accepted_at INTEGER NOT NULL,
  ended_at INTEGER
);
CREATE UNIQUE INDEX turn_message ON turn (conversation_key, message_id);

-- No turn up to here is open, so that what is left open can be found without an index that every turn would pay for.
CREATE TABLE turn_mark (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL);
INSERT INTO turn_mark VALUES (1, 0);

-- What goes out over the manager, apart from the connection that asked.
CREATE TABLE delivery (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  turn_id TEXT NOT NULL,
  turn_seq INTEGER NOT NULL,
  conversation_key TEXT NOT NULL,
  instance_id TEXT,
  target TEXT,
  text TEXT NOT NULL,
  injected INTEGER NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  next_at INTEGER,
  error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX delivery_turn ON delivery (turn_id);
CREATE INDEX delivery_pending ON delivery (seq) WHERE state = 'pending';
CREATE INDEX delivery_failed ON delivery (seq) WHERE state = 'failed';

-- Replies on public surfaces are redacted more strictly, also those to an operator's words.
ALTER TABLE session ADD COLUMN public INTEGER NOT NULL DEFAULT 0;
