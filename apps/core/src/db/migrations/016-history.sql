-- 016 (code from 015 on still runs): what the history shows of a turn beside its texts
-- JSON lists: the files that came with the message, and the tools that the turn called. Null where there are none.
ALTER TABLE turn ADD COLUMN attachments TEXT;
ALTER TABLE turn ADD COLUMN tools TEXT;
-- 1: its conversation was forgotten while its reply was still on its way. Nobody is shown it.
ALTER TABLE turn ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
