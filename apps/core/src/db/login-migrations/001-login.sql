CREATE TABLE login_account (
  -- There is one.
  id INTEGER PRIMARY KEY CHECK (id = 1),
  name TEXT NOT NULL,
  -- argon2id with its cost and salt, in the PHC form.
  password TEXT NOT NULL,
  -- Sealed with the key of login.key.
  totp_secret TEXT NOT NULL,
  -- The newest step of 30 s whose code was used: none counts twice.
  totp_step INTEGER NOT NULL,
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
  -- SHA-256 of the cookie of the browser that took its first step: no other goes on.
  browser_hash TEXT NOT NULL,
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
  method TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- When a second factor was last shown.
  proven_at INTEGER NOT NULL
);
CREATE TABLE login_throttle (
  -- Where guesses come from: see login-throttle.ts.
  source TEXT PRIMARY KEY,
  -- Wrong ones in a row, and when the next is looked at, epoch ms.
  failures INTEGER NOT NULL,
  not_before INTEGER NOT NULL
);
CREATE TABLE login_device (
  -- SHA-256 of the cookie of a browser that somebody has signed in with.
  hash TEXT PRIMARY KEY,
  seen_at INTEGER NOT NULL
);
CREATE TABLE login_passkey (
  -- The credential's id, base64url.
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- The host name that it is bound to.
  host TEXT NOT NULL,
  -- COSE, base64url.
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  -- JSON list.
  transports TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER
);
CREATE TABLE login_used_challenge (
  hash TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
);
