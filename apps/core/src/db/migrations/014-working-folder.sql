-- 014 (code from 013 on still runs): folders that turns work in, as the operator set them, and those whose settings may run
CREATE TABLE working_folder (
  scope TEXT NOT NULL,
  -- A conversation key, the id of an instance, a channel or a tier.
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  -- The least tool policy of a turn that works in it.
  for_policy TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (scope, name)
) WITHOUT ROWID;

-- By real path.
CREATE TABLE trusted_folder (path TEXT PRIMARY KEY, trusted_at INTEGER NOT NULL) WITHOUT ROWID;
