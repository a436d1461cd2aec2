-- 002 (code from 001 on still runs): messages sent under a key of their sender, and those held until after a restart
CREATE TABLE sent_message (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  idempotency_key TEXT NOT NULL UNIQUE,
  -- What travels to the connector, the same in every attempt.
  id TEXT NOT NULL,
  -- Where it was to go, to tell a repeat from another message under the same key.
  place TEXT NOT NULL,
  instance_id TEXT NOT NULL,
  -- The answer once it is final; null while it is not known what became of the message.
  answer TEXT,
  created_at INTEGER NOT NULL
);
CREATE INDEX sent_message_created_at ON sent_message (created_at);

CREATE TABLE held_announcement (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  instance_id TEXT NOT NULL,
  target TEXT NOT NULL,
  text TEXT NOT NULL,
  -- The run of the instance in which it was posted, which is not the one that may deliver it; empty when it was not well.
  posted_in TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  error TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
);
CREATE INDEX held_announcement_instance ON held_announcement (instance_id, state, seq);
