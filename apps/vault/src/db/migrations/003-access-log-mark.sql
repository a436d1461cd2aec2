-- 003 (code from 001 on still runs): by which time the access log was pruned last
-- One row. A clock that was set forward since is not believed at once.
CREATE TABLE access_log_mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  pruned_at INTEGER NOT NULL
);
