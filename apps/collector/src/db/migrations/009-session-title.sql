-- 009 (code from 008 on still runs): what the core calls a session
ALTER TABLE session ADD COLUMN title TEXT;
