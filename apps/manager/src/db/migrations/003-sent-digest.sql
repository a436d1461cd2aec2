-- 003 (code from 001 on still runs): what was in a message sent under a key, to tell a repeat from another one
-- The sha256 of its text, path and caption; null where only the place counts.
ALTER TABLE sent_message ADD COLUMN digest TEXT;
