-- 005 (code from 001 on still runs): what was spent, at list prices.
-- By local day, so that limits of a day and of a month read the same rows and one can be changed for the other.
CREATE TABLE spend (
  day TEXT NOT NULL,
  -- Empty for senders without a principal. No reference: what was spent outlives who spent it.
  principal_id TEXT NOT NULL,
  cost_usd REAL NOT NULL,
  turns INTEGER NOT NULL,
  PRIMARY KEY (day, principal_id)
) WITHOUT ROWID;
