import path from 'node:path';
import { spendPeriods, type SpendPeriodName } from '@svc/contract/spend.ts';
import type { LogLevel } from '../log.ts';
import type { Secret } from '../secret.ts';
import { readEnv, type Env } from './read-env.ts';
import { settingFaults } from './setting-faults.ts';
import { settingList, type SettingName } from './setting-list.ts';
import { SettingReader } from './setting-reader.ts';
import { SettingsError } from './settings-error.ts';

const engineNames = ['claude', 'codex', 'gemini', 'offline'] as const;

/** Every setting, read once, checked, frozen. Nothing else in the service looks for a setting in the environment. */
export type Settings = Readonly<{
  root: string;
  dataDir: string;
  bindHost: string;
  corePort: number;
  managerPort: number;
  collectorPort: number;
  compatPort: number;
  assistantName: string;
  logLevel: LogLevel;
  allowedHosts: readonly string[];
  publicLinkHosts: readonly string[];
  defaultEngine: string | null;
  maxConcurrentTurns: number;
  maxQueuedTurns: number;
  turnIdleMs: number;
  turnMaxMs: number;
  /** Characters. */
  maxReplyChars: number;
  maxToolChars: number;
  maxTurnChars: number;
  /** Longest line of an engine's program, in bytes. */
  maxEngineLine: number;
  historyDays: number;
  /** Limits of what a period may cost at list prices, USD; null is no limit. */
  spendSoftUsd: number | null;
  spendHardUsd: number | null;
  spendPrincipalSoftUsd: number | null;
  spendPrincipalHardUsd: number | null;
  spendPeriod: SpendPeriodName;
  warmEngines: number;
  /** Bytes. */
  warmEngineMemory: number;
  /** Engine ids in the order they are asked when the default one cannot answer. */
  engineFallback: readonly string[];
  heartbeatStaleMs: number;
  connectorMemoryMb: number;
  stopTimeoutMs: number;
  /** What a commit of any database survives: the end of the process, or a power failure too. */
  durability: 'normal' | 'full';
  offlineScript: string | null;
  claudePath: string | null;
  codexPath: string | null;
  codexBaseUrl: string | null;
  /** Addresses of model servers to look for. */
  modelServers: readonly string[];
  claudeBaseUrl: string | null;
  geminiPath: string | null;
  geminiBaseUrl: string | null;
  engineModel: string | null;
  secretsFile: string;
  /** Program that gives secrets, with its arguments. */
  secretsCommand: readonly string[] | null;
  moderation: 'off' | 'rules' | 'openai';
  moderationBaseUrl: string;
  moderationModel: string;
  /** Null: the endpoint wants no key. */
  moderationKeySecret: string | null;
  /** `isNeeded`: it was named, so it must be there. */
  moderationDenyFile: Readonly<{ path: string; isNeeded: boolean }>;
  /** Package registry that engines come from; null is npm's own choice. */
  engineRegistry: string | null;
  /** Bytes. */
  rawBodyBytes: number;
  uploadChunkBytes: number;
  uploadMaxChunkBytes: number;
  uploadMaxBytes: number;
  tts: TtsSettings;
  stt: SttSettings;
  /** 0 is never. */
  backupEveryMs: number;
  backupKeep: number;
  pricingFile: string;
  updateChannel: string;
  managerToken: Secret | null;
  insightsToken: Secret | null;
  insightsControlToken: Secret | null;
  retentionDays: number;
  /** Days by kind of event, where they differ; 0 is for ever. */
  retentionDaysByKind: Readonly<Record<string, number>>;
  transcripts: 'follow' | 'list' | 'off';
  /** Where the engines of this user keep their files, by the variables that the engines read; undefined is their own choice. */
  engineHomes: Readonly<Record<'HOME' | 'CLAUDE_CONFIG_DIR' | 'CODEX_HOME' | 'GEMINI_CLI_HOME', string | undefined>>;
  otel: OtelSettings;
  vaultPort: number;
  /** The vault is asked only when this and the agent's key are set. */
  vaultUrl: string | null;
  vaultAgentKey: Secret | null;
  vaultAdminKey: Secret | null;
  /** Null: nobody but the engines' turns may use the toolbelt. */
  toolbeltToken: Secret | null;
}>;

/** Whole addresses of OTLP over HTTP; null: these are not exported. */
export type OtelSettings = Readonly<{ tracesUrl: string | null; metricsUrl: string | null; metricsEveryMs: number }>;

/** A provider of speech; null is its usual one, and for `provider` the one that the address or the machine says. */
type SpeechSettings<P> = Readonly<{
  provider: P | null;
  baseUrl: string | null;
  keySecret: string | null;
  model: string | null;
  timeoutMs: number;
}>;
export type TtsSettings = SpeechSettings<'openai' | 'elevenlabs' | 'espeak'> &
  Readonly<{ voice: string | null; maxCharacters: number }>;
export type SttSettings = SpeechSettings<'openai' | 'elevenlabs'> & Readonly<{ maxBytes: number }>;

/** Checks every setting and throws one `SettingsError` that lists all that is wrong. */
export function loadSettings(root: string, env: Env = readEnv(root)): Settings {
  const read = new SettingReader(root, env);
  const dataDir = read.absolute('SVC_DATA_DIR', read.text('SVC_DATA_DIR') || '~');
  const settings: Settings = {
    root,
    dataDir,
    bindHost: read.text('SVC_BIND_HOST'),
    corePort: read.integer('SVC_CORE_PORT', 1, 65535),
    managerPort: read.integer('SVC_MANAGER_PORT', 1, 65535),
    collectorPort: read.integer('SVC_COLLECTOR_PORT', 1, 65535),
    compatPort: read.integer('SVC_COMPAT_PORT', 0, 65535),
    assistantName: read.shortName('SVC_ASSISTANT_NAME'),
    logLevel: read.oneOf('SVC_LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'silent']),
    allowedHosts: read.hostNames('SVC_ALLOWED_HOSTS'),
    publicLinkHosts: read.hostNames('SVC_PUBLIC_LINK_HOSTS'),
    defaultEngine: read.optional('SVC_DEFAULT_ENGINE') === null ? null : read.oneOf('SVC_DEFAULT_ENGINE', engineNames),
    maxConcurrentTurns: read.integer('SVC_MAX_CONCURRENT_TURNS', 1, 1024),
    maxQueuedTurns: read.integer('SVC_MAX_QUEUED_TURNS', 1, 100_000),
    turnIdleMs: read.integer('SVC_TURN_IDLE_MS', 1000, 86_400_000),
    turnMaxMs: read.integer('SVC_TURN_MAX_MS', 1000, 7 * 86_400_000),
    maxReplyChars: read.integer('SVC_MAX_REPLY_CHARS', 1000, 50_000_000),
    maxToolChars: read.integer('SVC_MAX_TOOL_CHARS', 100, 200_000),
    maxTurnChars: read.integer('SVC_MAX_TURN_CHARS', 1000, 10_000_000_000),
    maxEngineLine: read.bytes('SVC_MAX_ENGINE_LINE', 64 * 1024, 256 * 1024 * 1024),
    historyDays: read.integer('SVC_HISTORY_DAYS', 0, 36_500),
    spendSoftUsd: read.usd('SVC_SPEND_SOFT_USD'),
    spendHardUsd: read.usd('SVC_SPEND_HARD_USD'),
    spendPrincipalSoftUsd: read.usd('SVC_SPEND_PRINCIPAL_SOFT_USD'),
    spendPrincipalHardUsd: read.usd('SVC_SPEND_PRINCIPAL_HARD_USD'),
    spendPeriod: read.oneOf('SVC_SPEND_PERIOD', spendPeriods),
    warmEngines: read.integer('SVC_WARM_ENGINES', 0, 64),
    warmEngineMemory: read.integer('SVC_WARM_ENGINE_MEMORY', 64, 1_048_576) * 1024 * 1024,
    engineFallback: read.list('SVC_ENGINE_FALLBACK', engineNames),
    heartbeatStaleMs: read.integer('SVC_HEARTBEAT_STALE_MS', 100, 86_400_000),
    connectorMemoryMb: read.integer('SVC_CONNECTOR_MEMORY', 96, 65_536),
    stopTimeoutMs: read.integer('SVC_STOP_TIMEOUT_MS', 100, 600_000),
    durability: read.oneOf('SVC_DURABILITY', ['normal', 'full']),
    offlineScript: read.optionalFile('SVC_OFFLINE_SCRIPT'),
    claudePath: read.optionalFile('SVC_CLAUDE_PATH'),
    codexPath: read.optionalFile('SVC_CODEX_PATH'),
    codexBaseUrl: read.url('SVC_CODEX_BASE_URL'),
    modelServers: read.urls('SVC_MODEL_SERVERS'),
    claudeBaseUrl: read.url('SVC_CLAUDE_BASE_URL'),
    geminiPath: read.optionalFile('SVC_GEMINI_PATH'),
    geminiBaseUrl: read.url('SVC_GEMINI_BASE_URL'),
    engineModel: read.optional('SVC_ENGINE_MODEL'),
    secretsFile: read.file('SVC_SECRETS_FILE', path.join(dataDir, 'secrets.json')),
    secretsCommand: read.command('SVC_SECRETS_COMMAND'),
    moderation: read.oneOf('SVC_MODERATION', ['off', 'rules', 'openai']),
    moderationBaseUrl: read.url('SVC_MODERATION_BASE_URL') ?? read.text('SVC_MODERATION_BASE_URL'),
    moderationModel: read.text('SVC_MODERATION_MODEL'),
    moderationKeySecret: read.optional('SVC_MODERATION_KEY_SECRET'),
    moderationDenyFile: {
      path: read.file('SVC_MODERATION_DENY_FILE', path.join(dataDir, 'moderation.deny.txt')),
      isNeeded: read.optional('SVC_MODERATION_DENY_FILE') !== null,
    },
    engineRegistry: read.url('SVC_ENGINE_REGISTRY'),
    rawBodyBytes: read.bytes('SVC_RAW_BODY_LIMIT', 1),
    uploadChunkBytes: read.bytes('SVC_UPLOAD_CHUNK_SIZE', 1),
    uploadMaxChunkBytes: read.bytes('SVC_UPLOAD_MAX_CHUNK', 1),
    uploadMaxBytes: read.bytes('SVC_UPLOAD_MAX_SIZE', 1),
    tts: ttsSettings(read),
    stt: sttSettings(read),
    backupEveryMs: read.integer('SVC_BACKUP_EVERY_HOURS', 0, 8784) * 3_600_000,
    backupKeep: read.integer('SVC_BACKUP_KEEP', 1, 1000),
    pricingFile: read.file('SVC_PRICING_FILE', path.join(dataDir, 'pricing.json')),
    updateChannel: read.oneOf('SVC_UPDATE_CHANNEL', ['stable', 'edge']),
    managerToken: read.token('SVC_MANAGER_TOKEN'),
    insightsToken: read.token('SVC_INSIGHTS_TOKEN'),
    insightsControlToken: read.token('SVC_INSIGHTS_CONTROL_TOKEN'),
    retentionDays: read.integer('SVC_RETENTION_DAYS', 0, 36_500),
    retentionDaysByKind: read.daysByKind('SVC_RETENTION_DAYS_BY_KIND'),
    transcripts: read.oneOf('SVC_TRANSCRIPTS', ['follow', 'list', 'off']),
    engineHomes: {
      HOME: env['HOME'],
      CLAUDE_CONFIG_DIR: env['CLAUDE_CONFIG_DIR'],
      CODEX_HOME: env['CODEX_HOME'],
      GEMINI_CLI_HOME: env['GEMINI_CLI_HOME'],
    },
    otel: otelSettings(read),
    vaultPort: read.integer('SVC_VAULT_PORT', 1, 65535),
    vaultUrl: read.localUrl('SVC_VAULT_URL'),
    vaultAgentKey: read.longToken('SVC_VAULT_AGENT_KEY', 'is no key, so no vault would be asked'),
    vaultAdminKey: read.longToken('SVC_VAULT_ADMIN_KEY', 'is no key, so nothing could be stored in the vault'),
    toolbeltToken: read.longToken('SVC_TOOLBELT_TOKEN', 'is no token, so nobody could use the toolbelt with it'),
  };
  const problems = [...read.problems, ...settingFaults(settings)];
  if (problems.length > 0) throw new SettingsError(problems);
  return Object.freeze(settings);
}

const ttsSettings = (read: SettingReader): TtsSettings => ({
  provider: read.oneOfOrNone('SVC_TTS_PROVIDER', ['openai', 'elevenlabs', 'espeak']),
  baseUrl: read.baseUrl('SVC_TTS_BASE_URL'),
  keySecret: read.optional('SVC_TTS_KEY_SECRET'),
  model: read.optional('SVC_TTS_MODEL'),
  voice: read.optional('SVC_TTS_VOICE'),
  maxCharacters: read.integer('SVC_TTS_MAX_CHARACTERS', 1, 1_000_000),
  timeoutMs: read.integer('SVC_TTS_TIMEOUT_MS', 100, 3_600_000),
});

const sttSettings = (read: SettingReader): SttSettings => ({
  provider: read.oneOfOrNone('SVC_STT_PROVIDER', ['openai', 'elevenlabs']),
  baseUrl: read.baseUrl('SVC_STT_BASE_URL'),
  keySecret: read.optional('SVC_STT_KEY_SECRET'),
  model: read.optional('SVC_STT_MODEL'),
  maxBytes: read.bytes('SVC_STT_MAX_SIZE', 1),
  timeoutMs: read.integer('SVC_STT_TIMEOUT_MS', 100, 3_600_000),
});

function otelSettings(read: SettingReader): OtelSettings {
  const base = read.baseUrl('OTEL_EXPORTER_OTLP_ENDPOINT');
  const isOff = read.oneOf('OTEL_SDK_DISABLED', ['false', 'true']) === 'true';
  const address = (own: SettingName, exporter: SettingName, path: string): string | null => {
    const whole = read.url(own) ?? (base === null ? null : `${base}${path}`);
    return read.oneOf(exporter, ['otlp', 'none']) === 'none' || isOff ? null : whole;
  };
  return {
    tracesUrl: address('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_TRACES_EXPORTER', '/v1/traces'),
    metricsUrl: address('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'OTEL_METRICS_EXPORTER', '/v1/metrics'),
    metricsEveryMs: read.integer('OTEL_METRIC_EXPORT_INTERVAL', 100, 86_400_000),
  };
}

/** Names of `SVC_` variables that no setting has: most often a typing error worth a warning. */
export const unknownSettings = (env: Env): string[] =>
  Object.keys(env).filter((name) => name.startsWith('SVC_') && !(name in settingList));
