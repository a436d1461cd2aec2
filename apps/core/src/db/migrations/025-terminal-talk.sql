-- 025 (code from 022 on still runs): where what is said in a session's terminal begins in the transcript of its engine
-- JSON, from the start of the terminal until what was said there is in the history.
ALTER TABLE session ADD COLUMN terminal_talk TEXT;
