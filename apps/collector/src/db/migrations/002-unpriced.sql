-- 002 (code from 001 on still runs): turns and calls whose price nobody knows, so that a sum of 0 does not pass for free.
ALTER TABLE usage_rollup ADD COLUMN unpriced_turns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage_aux ADD COLUMN unpriced_calls INTEGER NOT NULL DEFAULT 0;
