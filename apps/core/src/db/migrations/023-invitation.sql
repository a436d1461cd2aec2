-- 023 (code from 022 on still runs): invitations that the operator made, to be used once
CREATE TABLE invitation (
  id TEXT PRIMARY KEY,
  -- SHA-256 of the code, which is kept nowhere.
  code_hash TEXT NOT NULL UNIQUE,
  -- Whose way in it is; null until it is used for a new person, with this name and role.
  principal_id TEXT REFERENCES principal (id) ON DELETE CASCADE,
  name TEXT,
  role TEXT,
  surface TEXT,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- By whom it was used: their message may come twice.
  used_surface TEXT,
  used_value TEXT
);
CREATE INDEX invitation_principal ON invitation (principal_id);
