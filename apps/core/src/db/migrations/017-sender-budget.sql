-- 017 (code from 015 on still runs): what single senders, such as keys of the chat completions API, may spend in a month.
CREATE TABLE sender_budget (
  surface TEXT NOT NULL,
  value TEXT NOT NULL,
  month_usd REAL NOT NULL,
  PRIMARY KEY (surface, value)
) WITHOUT ROWID;
-- What those with a budget spent, by local day. No reference: a budget that is taken away and given again finds what was spent.
CREATE TABLE sender_spend (
  day TEXT NOT NULL,
  -- Surface and value as JSON.
  sender TEXT NOT NULL,
  cost_usd REAL NOT NULL,
  turns INTEGER NOT NULL,
  PRIMARY KEY (day, sender)
) WITHOUT ROWID;
