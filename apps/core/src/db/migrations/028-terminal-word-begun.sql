-- 028 (code from 022 on still runs): `begun_at`: when typing it began (epoch ms), so that the transcript can say whether it was said; `is_begun` is not
-- used any more. `announced_from`: for announcements, where the session stood in its mailbox before them.
ALTER TABLE terminal_word ADD COLUMN begun_at INTEGER;
ALTER TABLE terminal_word ADD COLUMN announced_from INTEGER;
