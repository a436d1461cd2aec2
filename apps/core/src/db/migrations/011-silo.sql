-- 011 (code from 001 on still runs): named private file stores
CREATE TABLE silo (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  min_trust TEXT NOT NULL,
  -- The data key as the vault wrapped it; null while nothing was sealed with one.
  wrapped_key TEXT,
  created_at INTEGER NOT NULL
);

CREATE TABLE silo_file (
  silo_id TEXT NOT NULL REFERENCES silo (id),
  path TEXT NOT NULL,
  -- The file's name on the disk. A new content is a new file.
  blob TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  mime TEXT NOT NULL,
  encrypted INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (silo_id, path)
);
