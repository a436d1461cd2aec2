-- 024 (code from 022 on still runs): the login of the operator
CREATE TABLE login_account (
  -- There is one.
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL,
  -- argon2id with its cost and salt, in the PHC form.
  password TEXT NOT NULL,
  totp_secret TEXT NOT NULL,
  -- The newest step of 30 s whose code was used: none counts twice.
  totp_step INTEGER NOT NULL,
  -- Wrong sign-ins in a row, and when the next is looked at, epoch ms.
  failures INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  -- SHA-256 of the link that made it, which is of no more use.
  link_hash TEXT NOT NULL
);
CREATE TABLE login_recovery_code (
  -- SHA-256. A code that was used is deleted.
  hash TEXT PRIMARY KEY
);
CREATE TABLE login_setup (
  -- SHA-256 of the link. The other columns are filled step by step.
  link_hash TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  password TEXT NOT NULL,
  totp_secret TEXT NOT NULL,
  totp_step INTEGER,
  -- JSON list of SHA-256.
  recovery_hashes TEXT
);
CREATE TABLE login_session (
  id TEXT PRIMARY KEY,
  -- SHA-256 of what the cookie and the header hold.
  cookie_hash TEXT NOT NULL UNIQUE,
  header_hash TEXT NOT NULL,
  device TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- When a second factor was last shown.
  proven_at INTEGER NOT NULL
);
