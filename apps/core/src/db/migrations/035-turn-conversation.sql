-- 035 (code from 022 on still runs): the newest turns of a conversation are read without sorting all that it ever had.
CREATE INDEX turn_conversation ON turn (conversation_key);
