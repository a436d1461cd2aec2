-- 026 (code from 022 on still runs): the login lies in login.db from now on, which no backup holds and no restore brings back
DELETE FROM login_account;
DELETE FROM login_recovery_code;
DELETE FROM login_setup;
DELETE FROM login_session;
