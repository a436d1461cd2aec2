-- 010 (code from 008 on still runs): what a model read from its cache and wrote there, which has a price of its own; null where nobody knows
ALTER TABLE transcript ADD COLUMN cache_read_tokens INTEGER;
ALTER TABLE transcript ADD COLUMN cache_write_tokens INTEGER;
