-- 008 (code from 001 on still runs): what the operator has set for each engine, and what is known of newer versions.
CREATE TABLE engine_setting (
  engine_id TEXT PRIMARY KEY,
  is_default INTEGER NOT NULL DEFAULT 0,
  model TEXT,
  -- Null: as the engine comes.
  connection TEXT,
  billing TEXT,
  auto_update INTEGER NOT NULL DEFAULT 0,
  base_url TEXT,
  latest_version TEXT,
  checked_at INTEGER,
  update_fault TEXT,
  -- A version that failed its test is not tried again.
  refused_version TEXT
);
CREATE UNIQUE INDEX engine_setting_default ON engine_setting (is_default) WHERE is_default = 1;
