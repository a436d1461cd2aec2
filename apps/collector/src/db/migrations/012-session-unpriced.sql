-- 012 (code from 011 on still runs): what of a session has no price, so that a cost of 0 does not pass for free
ALTER TABLE session ADD COLUMN unpriced INTEGER NOT NULL DEFAULT 0;
