-- 004 (observed context): files of a message that was seen, its id on the channel, and what had to make room for it.
ALTER TABLE observed_message ADD COLUMN attachments TEXT;
ALTER TABLE observed_message ADD COLUMN message_id TEXT;
-- On the oldest row that is kept: how many came before it and are gone, and when the first and the last of them came.
ALTER TABLE observed_message ADD COLUMN gone INTEGER NOT NULL DEFAULT 0;
ALTER TABLE observed_message ADD COLUMN gone_since INTEGER;
ALTER TABLE observed_message ADD COLUMN gone_until INTEGER;
CREATE UNIQUE INDEX observed_message_once ON observed_message (conversation_key, message_id) WHERE message_id IS NOT NULL;
