-- 019 (code from 018 on still runs): which message of its channel a delivery answers, so that the channel finds what it shows of it already.
ALTER TABLE delivery ADD COLUMN message_id TEXT;
