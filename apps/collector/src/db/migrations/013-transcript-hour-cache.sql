-- 013 (code from 012 on still runs): what of the tokens that a model wrote into its cache is kept for an hour, which costs more; null where nobody knows
ALTER TABLE transcript ADD COLUMN cache_write_1h_tokens INTEGER;
