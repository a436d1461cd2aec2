-- 010 (code from 009 on still runs): every change of who is trusted. Rows are only ever added.
CREATE TABLE trust_audit (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  what TEXT NOT NULL,
  -- Key of the principal it is about. No reference: the record outlives the principal.
  principal TEXT,
  -- What it was and what it became, as JSON; null where there was or is nothing.
  before TEXT,
  after TEXT
);
CREATE INDEX trust_audit_principal ON trust_audit (principal, id);
