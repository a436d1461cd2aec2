-- 009 (code from 008 on still runs): tool servers (MCP), and which of them a role may use.
CREATE TABLE tool_server (
  name TEXT PRIMARY KEY,
  enabled INTEGER NOT NULL,
  -- The rest of the entry as JSON; of a built-in server only the row's other columns count.
  entry TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

-- '*' or a JSON list of names.
ALTER TABLE role ADD COLUMN tool_servers TEXT NOT NULL DEFAULT '*';
