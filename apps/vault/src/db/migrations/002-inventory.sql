-- 002 (code from 001 on still runs): which rows of the vault are in force
-- One row: a digest of every agent, credential and silo key there is, under a MAC keyed with the root key. An earlier row
-- that is put back is another one than it names.
CREATE TABLE inventory (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  generation INTEGER NOT NULL,
  entries TEXT NOT NULL,
  mac BLOB NOT NULL
);
-- 2: the root key is bound to the fact that there is an inventory. 1: an earlier version made the vault.
ALTER TABLE vault ADD COLUMN format INTEGER NOT NULL DEFAULT 1;
