-- 015 (code from 014 on still runs): how much a sender whose message was only seen was trusted then
ALTER TABLE observed_message ADD COLUMN tier TEXT;
