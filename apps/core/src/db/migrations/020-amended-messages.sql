-- 020 (code from 019 on still runs): the version of a message that was changed by its sender; null for one that was not
ALTER TABLE turn ADD COLUMN amended INTEGER;
ALTER TABLE observed_message ADD COLUMN amended INTEGER;
