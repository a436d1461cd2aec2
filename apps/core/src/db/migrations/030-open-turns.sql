-- 030 (open turns): a turn that got the place of a removed one may be behind the mark, where no start looks for it.
UPDATE turn_mark SET seq = MIN(seq, COALESCE((SELECT MIN(seq) - 1 FROM turn WHERE open = 1), seq));
