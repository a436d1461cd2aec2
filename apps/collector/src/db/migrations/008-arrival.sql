-- 008 (code from 001 on still runs): when an event came, and the time it claimed where that cannot be. `ts` is its place among
-- the others. Null: it came before this was kept.
ALTER TABLE event ADD COLUMN received_at INTEGER;
ALTER TABLE event ADD COLUMN claimed_at INTEGER;
