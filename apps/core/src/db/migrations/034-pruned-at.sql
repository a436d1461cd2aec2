-- 034 (code from 022 on still runs): the time by which old turns were removed last, so that a clock which jumps forward is not believed at once
ALTER TABLE turn_mark ADD COLUMN pruned_at INTEGER;
