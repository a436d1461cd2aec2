-- 022 (code from 021 on still runs): deliveries of conversations that were forgotten
-- 1: its conversation was forgotten while it was on its way. When it has arrived nothing of it is kept.
ALTER TABLE delivery ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
CREATE INDEX delivery_conversation ON delivery (conversation_key, seq);
