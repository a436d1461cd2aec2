/**
 * Every setting of the service: its default and one line of what it does, grouped by who reads it.
 * `.env.example` is written from this list (`scripts/write-env-example.ts`) and a test holds the two together.
 */
export type SettingInfo = { group: string; default?: string; text: string };

const setting = (group: string, text: string, fallback?: string): SettingInfo => ({ group, text, default: fallback });

export const settingList = {
  SVC_DATA_DIR: setting(
    'Everywhere',
    'Folder for every file the service writes. A relative one lies in this folder, as all paths here.',
    '~/.svc',
  ),
  SVC_BIND_HOST: setting('Everywhere', 'Address the processes listen on: 127.0.0.1 or another of 127.x.x.x.', '127.0.0.1'),
  SVC_ALLOWED_HOSTS: setting('Everywhere', 'Host names a reverse proxy may send, separated by commas.'),
  SVC_ASSISTANT_NAME: setting('Everywhere', 'Name of the assistant; it makes the tool ask_<name> and the mention.', 'assistant'),
  SVC_LOG_LEVEL: setting('Everywhere', 'trace, debug, info, warn, error or silent.', 'info'),
  SVC_STOP_TIMEOUT_MS: setting('Everywhere', 'How long a process may finish its work when it is stopped.', '10000'),
  SVC_UPDATE_CHANNEL: setting('Everywhere', 'stable (newest release) or edge (main branch).', 'stable'),
  SVC_CORE_PORT: setting('Core', 'Port of the core.', '3023'),
  SVC_DEFAULT_ENGINE: setting('Core', 'claude, codex, gemini or offline. Unset: the first one that is installed and logged in.'),
  SVC_MAX_CONCURRENT_TURNS: setting('Core', 'How many turns run at once over all conversations.', '8'),
  SVC_MAX_QUEUED_TURNS: setting('Core', 'How many turns may wait before new ones are refused with 429.', '256'),
  SVC_TURN_IDLE_MS: setting('Core', 'A turn whose engine says nothing for this long is ended.', '600000'),
  SVC_TURN_MAX_MS: setting('Core', 'A turn that takes longer than this is ended, whatever its engine says.', '7200000'),
  SVC_HISTORY_DAYS: setting('Core', 'How long what was said is kept. 0: for ever.', '90'),
  SVC_SPEND_SOFT_USD: setting('Core', 'All together past this many USD in a period: a warning. Unset: no limit.'),
  SVC_SPEND_HARD_USD: setting('Core', 'All together at this many USD in a period: turns are refused. Unset: no limit.'),
  SVC_SPEND_PRINCIPAL_SOFT_USD: setting('Core', 'The same warning for each principal. Unset: no limit.'),
  SVC_SPEND_PRINCIPAL_HARD_USD: setting('Core', 'The same refusal for each principal. Unset: no limit.'),
  SVC_SPEND_PERIOD: setting('Core', "day or month of this machine's calendar, for all spend limits.", 'month'),
  SVC_WARM_ENGINES: setting('Core', 'How many engine conversations are kept open for a fast next turn.', '4'),
  SVC_CLAUDE_PATH: setting('Core', 'Folder that holds the Claude Agent SDK, or the claude program.'),
  SVC_CODEX_PATH: setting('Core', 'The codex program, or the folder it is installed in.'),
  SVC_CODEX_BASE_URL: setting('Core', 'Endpoint that speaks the Responses protocol, for codex with your own models.'),
  SVC_CLAUDE_BASE_URL: setting('Core', 'Endpoint that claude is pointed at instead of the vendor. For tests.'),
  SVC_GEMINI_PATH: setting('Core', 'Folder that holds the Gemini CLI, or the gemini program.'),
  SVC_GEMINI_BASE_URL: setting('Core', 'Endpoint that speaks the Gemini API, instead of the vendor.'),
  SVC_ENGINE_MODEL: setting('Core', "Model id for the default engine. Unset: the engine's own default."),
  SVC_OFFLINE_SCRIPT: setting('Core', 'Module that scripts the offline engine. For tests and benchmarks.'),
  SVC_SECRETS_FILE: setting('Core', 'JSON file of secrets, mode 0600. Default: secrets.json in the data folder.'),
  SVC_PRICING_FILE: setting('Core', 'JSON file of prices over the built-in ones. Default: pricing.json in the data folder.'),
  SVC_MANAGER_PORT: setting('Manager', 'Port of the manager.', '3024'),
  SVC_MANAGER_TOKEN: setting('Manager', 'Bearer token of every manager route but /health. Unset: open, with a warning.'),
  SVC_HEARTBEAT_STALE_MS: setting('Manager', 'A connector silent for this long is reported as stale.', '120000'),
  SVC_COMPAT_PORT: setting('Manager', 'Port of the chat completions API that the first start creates.', '3025'),
  SVC_COLLECTOR_PORT: setting('Collector', 'Port of the collector.', '3017'),
  SVC_INSIGHTS_TOKEN: setting('Collector', 'Bearer token of reads and ingest. Unset: open, with a warning.'),
  SVC_INSIGHTS_CONTROL_TOKEN: setting('Collector', 'Bearer token of control routes. Unset: open, with a warning.'),
  SVC_NODE: setting('Wrapper', 'Node program that ./svc uses instead of looking for one.'),
} as const satisfies Record<string, SettingInfo>;

export type SettingName = keyof typeof settingList;
