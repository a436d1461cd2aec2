-- 019 (code from 018 on still runs): questions of engines that wait for a person, and whom engines ask
-- A row is there while its question is open. What is left of an earlier process belongs to no turn any more.
CREATE TABLE ask (
  id TEXT PRIMARY KEY,
  turn_id TEXT NOT NULL,
  conversation_key TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  text TEXT NOT NULL,
  -- A list as JSON.
  options TEXT NOT NULL,
  asked_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
);
-- `never`, `dangerous` or `always`: what engines ask about before they do it.
ALTER TABLE role ADD COLUMN asks TEXT NOT NULL DEFAULT 'never';
