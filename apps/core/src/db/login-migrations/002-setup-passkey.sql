-- 002 (code from 001 on still runs): a set-up whose second factor is a passkey.
-- JSON of the passkey, which goes into login_passkey at the end.
ALTER TABLE login_setup ADD COLUMN passkey TEXT;
