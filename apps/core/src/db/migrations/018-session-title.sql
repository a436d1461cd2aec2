-- 018 (code from 017 on still runs): who gave a session its title
-- `words`: the first words of its first message. `asked`: the same, and no model is asked for a better one any more.
-- `model`, `person`: theirs. Null: there is no title yet.
ALTER TABLE session ADD COLUMN title_by TEXT;
