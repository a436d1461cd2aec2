-- 001 (first schema)
-- One row: the root key, wrapped with the key of the passphrase, and how often keys made of it were used.
CREATE TABLE vault (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  vault_id TEXT NOT NULL,
  kdf TEXT NOT NULL,
  wrapped_root BLOB NOT NULL,
  generation INTEGER NOT NULL,
  uses INTEGER NOT NULL,
  admin_hash BLOB,
  failed_unseals INTEGER NOT NULL DEFAULT 0,
  failed_at INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  rotated_at INTEGER NOT NULL
);
CREATE TABLE credential (
  name TEXT PRIMARY KEY,
  min_trust TEXT NOT NULL,
  version INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  wrapped_key BLOB NOT NULL,
  sealed_value BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
-- Keys that wrap the data keys of silos. The newest one wraps, all of them unwrap.
CREATE TABLE silo_key (
  version INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL,
  wrapped_key BLOB NOT NULL,
  uses INTEGER NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE TABLE agent (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  tier TEXT NOT NULL,
  key_hash BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  -- Keyed with the root key: a row that was not written by the vault is nobody's.
  generation INTEGER NOT NULL,
  mac BLOB NOT NULL
);
CREATE TABLE access_log (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  target TEXT,
  outcome TEXT NOT NULL,
  detail TEXT
);
CREATE INDEX access_log_at ON access_log (at);
