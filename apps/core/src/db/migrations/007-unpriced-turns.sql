-- 007 (code from 001 on still runs): turns of a session whose price nobody knows, so that a sum of 0 does not pass for free.
ALTER TABLE session ADD COLUMN unpriced_turns INTEGER NOT NULL DEFAULT 0;
