-- 021 (code from 020 on still runs): files and reactions that a running turn has made for its reply, and the file of a delivery
ALTER TABLE turn ADD COLUMN actions TEXT;
ALTER TABLE delivery ADD COLUMN file TEXT;
