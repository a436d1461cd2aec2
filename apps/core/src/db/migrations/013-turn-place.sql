-- 013 (code from 012 on still runs): where a message came from, so that its answer is given to nobody else of the same name
-- Null on older rows: the channel is that of the conversation key, and the message is taken for a private one.
ALTER TABLE turn ADD COLUMN channel TEXT;
ALTER TABLE turn ADD COLUMN public INTEGER;
