-- 012 (code from 001 on still runs): sessions of engines that a conversation has left
-- JSON: engine id -> { id: its resume id, turns: how many the conversation had then }.
ALTER TABLE session ADD COLUMN parked_sessions TEXT;
