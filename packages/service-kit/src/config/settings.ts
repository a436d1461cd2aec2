import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { spendPeriods, type SpendPeriodName } from '@svc/contract/spend.ts';
import { Secret } from '../secret.ts';
import { parseBytes } from './parse-bytes.ts';
import { parseCommand } from './parse-command.ts';
import { settingList, type SettingName } from './setting-list.ts';
import type { LogLevel } from '../log.ts';

const engineNames = ['claude', 'codex', 'gemini', 'offline'] as const;

/** Every setting, read once, checked, frozen. Nothing else in the service reads `process.env` for a setting. */
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
  stopTimeoutMs: number;
  offlineScript: string | null;
  claudePath: string | null;
  codexPath: string | null;
  codexBaseUrl: string | null;
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

/** All bad settings at once, each with its name and what it should be. */
export class SettingsError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`Bad settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`);
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

type Env = Record<string, string | undefined>;

/** The environment over the `.env` file at the root; a variable set to the empty string counts as set. */
export function readEnv(root: string, env: Env = process.env): Env {
  let text: string;
  try {
    text = readFileSync(path.join(root, '.env'), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { ...env };
    throw new SettingsError([`.env at ${root} cannot be read: ${(error as Error).message}`]);
  }
  return { ...parseEnv(text), ...env };
}

/** Checks every setting and throws one `SettingsError` that lists all that is wrong. */
export function loadSettings(root: string, env: Env = readEnv(root)): Settings {
  const problems: string[] = [];
  const raw = (name: SettingName): string | undefined => env[name] ?? settingList[name].default;

  const text = (name: SettingName): string => {
    const value = raw(name)?.trim() ?? '';
    if (value === '') problems.push(`${name} is empty. Remove it for the default (${settingList[name].default}).`);
    return value;
  };
  const optional = (name: SettingName): string | null => raw(name)?.trim() || null;
  const url = (name: SettingName): string | null => {
    const value = optional(name);
    if (value !== null && !isHttpUrl(value)) problems.push(`${name} is "${value}". It takes an http or https address.`);
    return value;
  };
  // What goes there are keys and secrets, in the clear.
  const localUrl = (name: SettingName): string | null => {
    const value = url(name)?.replace(/\/+$/, '') ?? null;
    if (value !== null && !isLocalUrl(value)) {
      problems.push(`${name} is "${value}". It takes an http address of this machine, such as http://127.0.0.1:3022.`);
    }
    return value;
  };
  const command = (name: SettingName): readonly string[] | null => {
    const value = optional(name);
    const words = value === null ? null : parseCommand(value);
    if (value !== null && words === null) problems.push(`${name} takes a program and its arguments, or a JSON array of them.`);
    return words;
  };
  const integer = (name: SettingName, min: number, max: number): number => {
    const value = raw(name) ?? '';
    const number = Number(value);
    if (!/^\d+$/.test(value.trim()) || number < min || number > max) {
      problems.push(`${name} is "${value}". It takes a whole number from ${min} to ${max}.`);
    }
    return number;
  };
  const bytes = (name: SettingName, min: number): number => {
    const value = raw(name) ?? '';
    const size = parseBytes(value);
    if (size !== null && size >= min) return size;
    problems.push(`${name} is "${value}". It takes a size such as 64mb, 8gb or a number of bytes.`);
    return min;
  };
  // Zero would be read as "none" by one and as "no limit" by another.
  const usd = (name: SettingName): number | null => {
    const value = optional(name);
    if (value === null) return null;
    const amount = Number(value);
    if (/^\d+(\.\d+)?$/.test(value) && amount > 0 && amount <= 1e9) return amount;
    problems.push(`${name} is "${value}". It takes an amount of USD above 0, such as 20 or 0.5; remove it for no limit.`);
    return null;
  };
  const oneOf = <T extends string>(name: SettingName, values: readonly T[]): T => {
    const value = text(name) as T;
    if (value !== '' && !values.includes(value)) problems.push(`${name} is "${value}". It takes ${values.join(', ')}.`);
    return value;
  };
  const oneOfOrNone = <const T extends string>(name: SettingName, values: readonly T[]): T | null =>
    optional(name) === null ? null : oneOf(name, values);
  const list = (name: SettingName, values: readonly string[]): string[] => {
    const entries = (optional(name) ?? '').split(',').map((entry) => entry.trim());
    const unknown = entries.find((entry) => entry !== '' && !values.includes(entry));
    if (unknown !== undefined) problems.push(`${name} has "${unknown}". It takes ${values.join(', ')}, separated by commas.`);
    return [...new Set(entries)].filter(Boolean);
  };
  const daysByKind = (name: SettingName): Record<string, number> => {
    const entries = (raw(name) ?? '').split(',').map((entry) => entry.trim());
    const days = entries.filter(Boolean).map((entry) => /^([\w.-]{1,64})=(\d{1,5})$/.exec(entry));
    if (days.includes(null))
      problems.push(`${name} is "${raw(name)}". It takes kinds with days, such as thinking=14,tool_result=30.`);
    return Object.fromEntries(days.flatMap((match) => (match === null ? [] : [[match[1], Number(match[2])]])));
  };
  const token = (name: SettingName, blank = 'would leave the service open'): Secret | null => {
    const value = env[name];
    if (value === undefined) return null;
    if (value.trim() === '') {
      problems.push(`${name} is set but blank, which ${blank}. Give it a value or remove it.`);
      return null;
    }
    return new Secret(value);
  };
  // It opens everything to whoever has it, so it must not be one that can be guessed.
  const longToken = (name: SettingName, blank: string): Secret | null => {
    const value = token(name, blank);
    if (value !== null && value.reveal().length < 16)
      problems.push(`${name} is too short. Give it at least 16 random characters.`);
    return value;
  };
  // Relative ones lie in the root, so that every process and every shell means the same place.
  const absolute = (name: SettingName, file: string): string => {
    try {
      return path.resolve(root, expandHome(file));
    } catch {
      problems.push(`${name} is "${file}", and this user has no home folder. Give it a full path.`);
      return root;
    }
  };
  const file = (name: SettingName, fallback: string): string => absolute(name, optional(name) ?? fallback);
  const optionalFile = (name: SettingName): string | null => (optional(name) === null ? null : file(name, ''));

  const otel = (): OtelSettings => {
    const base = url('OTEL_EXPORTER_OTLP_ENDPOINT')?.replace(/\/+$/, '') ?? null;
    const isOff = oneOf('OTEL_SDK_DISABLED', ['false', 'true']) === 'true';
    const address = (own: SettingName, exporter: SettingName, path: string): string | null => {
      const whole = url(own) ?? (base === null ? null : `${base}${path}`);
      return oneOf(exporter, ['otlp', 'none']) === 'none' || isOff ? null : whole;
    };
    return {
      tracesUrl: address('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_TRACES_EXPORTER', '/v1/traces'),
      metricsUrl: address('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', 'OTEL_METRICS_EXPORTER', '/v1/metrics'),
      metricsEveryMs: integer('OTEL_METRIC_EXPORT_INTERVAL', 100, 86_400_000),
    };
  };

  const dataDir = absolute('SVC_DATA_DIR', text('SVC_DATA_DIR') || '~');
  const name = text('SVC_ASSISTANT_NAME');
  if (!/^[a-z][a-z0-9_-]{0,31}$/.test(name)) {
    problems.push(`SVC_ASSISTANT_NAME is "${name}". It takes a-z, 0-9, - and _, starts with a letter, at most 32.`);
  }
  const settings: Settings = {
    root,
    dataDir,
    bindHost: text('SVC_BIND_HOST'),
    corePort: integer('SVC_CORE_PORT', 1, 65535),
    managerPort: integer('SVC_MANAGER_PORT', 1, 65535),
    collectorPort: integer('SVC_COLLECTOR_PORT', 1, 65535),
    compatPort: integer('SVC_COMPAT_PORT', 0, 65535),
    assistantName: name,
    logLevel: oneOf('SVC_LOG_LEVEL', ['trace', 'debug', 'info', 'warn', 'error', 'silent']),
    allowedHosts: hostNames(optional('SVC_ALLOWED_HOSTS')),
    publicLinkHosts: hostNames(optional('SVC_PUBLIC_LINK_HOSTS')),
    defaultEngine: optional('SVC_DEFAULT_ENGINE') === null ? null : oneOf('SVC_DEFAULT_ENGINE', engineNames),
    maxConcurrentTurns: integer('SVC_MAX_CONCURRENT_TURNS', 1, 1024),
    maxQueuedTurns: integer('SVC_MAX_QUEUED_TURNS', 1, 100_000),
    turnIdleMs: integer('SVC_TURN_IDLE_MS', 1000, 86_400_000),
    turnMaxMs: integer('SVC_TURN_MAX_MS', 1000, 7 * 86_400_000),
    historyDays: integer('SVC_HISTORY_DAYS', 0, 36_500),
    spendSoftUsd: usd('SVC_SPEND_SOFT_USD'),
    spendHardUsd: usd('SVC_SPEND_HARD_USD'),
    spendPrincipalSoftUsd: usd('SVC_SPEND_PRINCIPAL_SOFT_USD'),
    spendPrincipalHardUsd: usd('SVC_SPEND_PRINCIPAL_HARD_USD'),
    spendPeriod: oneOf('SVC_SPEND_PERIOD', spendPeriods),
    warmEngines: integer('SVC_WARM_ENGINES', 0, 64),
    warmEngineMemory: integer('SVC_WARM_ENGINE_MEMORY', 64, 1_048_576) * 1024 * 1024,
    engineFallback: list('SVC_ENGINE_FALLBACK', engineNames),
    heartbeatStaleMs: integer('SVC_HEARTBEAT_STALE_MS', 100, 86_400_000),
    stopTimeoutMs: integer('SVC_STOP_TIMEOUT_MS', 100, 600_000),
    offlineScript: optionalFile('SVC_OFFLINE_SCRIPT'),
    claudePath: optionalFile('SVC_CLAUDE_PATH'),
    codexPath: optionalFile('SVC_CODEX_PATH'),
    codexBaseUrl: url('SVC_CODEX_BASE_URL'),
    claudeBaseUrl: url('SVC_CLAUDE_BASE_URL'),
    geminiPath: optionalFile('SVC_GEMINI_PATH'),
    geminiBaseUrl: url('SVC_GEMINI_BASE_URL'),
    engineModel: optional('SVC_ENGINE_MODEL'),
    secretsFile: file('SVC_SECRETS_FILE', path.join(dataDir, 'secrets.json')),
    secretsCommand: command('SVC_SECRETS_COMMAND'),
    moderation: oneOf('SVC_MODERATION', ['off', 'rules', 'openai']),
    moderationBaseUrl: url('SVC_MODERATION_BASE_URL') ?? text('SVC_MODERATION_BASE_URL'),
    moderationModel: text('SVC_MODERATION_MODEL'),
    moderationKeySecret: optional('SVC_MODERATION_KEY_SECRET'),
    moderationDenyFile: {
      path: file('SVC_MODERATION_DENY_FILE', path.join(dataDir, 'moderation.deny.txt')),
      isNeeded: optional('SVC_MODERATION_DENY_FILE') !== null,
    },
    engineRegistry: url('SVC_ENGINE_REGISTRY'),
    rawBodyBytes: bytes('SVC_RAW_BODY_LIMIT', 1),
    uploadChunkBytes: bytes('SVC_UPLOAD_CHUNK_SIZE', 1),
    uploadMaxChunkBytes: bytes('SVC_UPLOAD_MAX_CHUNK', 1),
    uploadMaxBytes: bytes('SVC_UPLOAD_MAX_SIZE', 1),
    tts: {
      provider: oneOfOrNone('SVC_TTS_PROVIDER', ['openai', 'elevenlabs', 'espeak']),
      baseUrl: url('SVC_TTS_BASE_URL')?.replace(/\/+$/, '') ?? null,
      keySecret: optional('SVC_TTS_KEY_SECRET'),
      model: optional('SVC_TTS_MODEL'),
      voice: optional('SVC_TTS_VOICE'),
      maxCharacters: integer('SVC_TTS_MAX_CHARACTERS', 1, 1_000_000),
      timeoutMs: integer('SVC_TTS_TIMEOUT_MS', 100, 3_600_000),
    },
    stt: {
      provider: oneOfOrNone('SVC_STT_PROVIDER', ['openai', 'elevenlabs']),
      baseUrl: url('SVC_STT_BASE_URL')?.replace(/\/+$/, '') ?? null,
      keySecret: optional('SVC_STT_KEY_SECRET'),
      model: optional('SVC_STT_MODEL'),
      maxBytes: bytes('SVC_STT_MAX_SIZE', 1),
      timeoutMs: integer('SVC_STT_TIMEOUT_MS', 100, 3_600_000),
    },
    backupEveryMs: integer('SVC_BACKUP_EVERY_HOURS', 0, 8784) * 3_600_000,
    backupKeep: integer('SVC_BACKUP_KEEP', 1, 1000),
    pricingFile: file('SVC_PRICING_FILE', path.join(dataDir, 'pricing.json')),
    updateChannel: oneOf('SVC_UPDATE_CHANNEL', ['stable', 'edge']),
    managerToken: token('SVC_MANAGER_TOKEN'),
    insightsToken: token('SVC_INSIGHTS_TOKEN'),
    insightsControlToken: token('SVC_INSIGHTS_CONTROL_TOKEN'),
    retentionDays: integer('SVC_RETENTION_DAYS', 0, 36_500),
    retentionDaysByKind: daysByKind('SVC_RETENTION_DAYS_BY_KIND'),
    transcripts: oneOf('SVC_TRANSCRIPTS', ['follow', 'list', 'off']),
    engineHomes: {
      HOME: env['HOME'],
      CLAUDE_CONFIG_DIR: env['CLAUDE_CONFIG_DIR'],
      CODEX_HOME: env['CODEX_HOME'],
      GEMINI_CLI_HOME: env['GEMINI_CLI_HOME'],
    },
    otel: otel(),
    vaultPort: integer('SVC_VAULT_PORT', 1, 65535),
    vaultUrl: localUrl('SVC_VAULT_URL'),
    vaultAgentKey: longToken('SVC_VAULT_AGENT_KEY', 'is no key, so no vault would be asked'),
    vaultAdminKey: longToken('SVC_VAULT_ADMIN_KEY', 'is no key, so nothing could be stored in the vault'),
    toolbeltToken: longToken('SVC_TOOLBELT_TOKEN', 'is no token, so nobody could use the toolbelt with it'),
  };
  const ports = [settings.corePort, settings.managerPort, settings.collectorPort];
  if (new Set(ports).size < ports.length) {
    problems.push('SVC_CORE_PORT, SVC_MANAGER_PORT and SVC_COLLECTOR_PORT must differ.');
  }
  if ((settings.spendSoftUsd ?? 0) > (settings.spendHardUsd ?? Infinity)) {
    problems.push('SVC_SPEND_SOFT_USD is above SVC_SPEND_HARD_USD, so it would never warn. Lower it.');
  }
  if ((settings.spendPrincipalSoftUsd ?? 0) > (settings.spendPrincipalHardUsd ?? Infinity)) {
    problems.push('SVC_SPEND_PRINCIPAL_SOFT_USD is above SVC_SPEND_PRINCIPAL_HARD_USD, so it would never warn. Lower it.');
  }
  if (settings.uploadChunkBytes > settings.uploadMaxChunkBytes) {
    problems.push('SVC_UPLOAD_CHUNK_SIZE is above SVC_UPLOAD_MAX_CHUNK, so every chunk would be refused. Lower it.');
  }
  if (ports.includes(settings.vaultPort)) problems.push('SVC_VAULT_PORT must differ from the ports of the other processes.');
  if (ports.includes(settings.compatPort)) problems.push('SVC_COMPAT_PORT must differ from the ports of the processes.');
  // The core answers whoever can reach it, so an address of a network would let everybody in as the owner.
  if (!isIPv4(settings.bindHost) || !settings.bindHost.startsWith('127.')) {
    problems.push(
      `SVC_BIND_HOST is "${settings.bindHost}". It takes 127.0.0.1 or another 127.x.x.x; put a proxy with a login in front instead.`,
    );
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return Object.freeze(settings);
}

/** Names of `SVC_` variables that no setting has: most often a typing error worth a warning. */
export const unknownSettings = (env: Env): string[] =>
  Object.keys(env).filter((name) => name.startsWith('SVC_') && !(name in settingList));

const expandHome = (file: string) => (file === '~' || file.startsWith('~/') ? path.join(home(), file.slice(1)) : file);

/** Throws for a user whom the system does not know and whose `HOME` is not set. */
function home(): string {
  const folder = homedir();
  if (!path.isAbsolute(folder)) throw new Error('HOME is not a folder');
  return folder;
}

const hostNames = (text: string | null): string[] =>
  (text ?? '')
    .split(',')
    .map((host) => host.trim().toLowerCase())
    .filter(Boolean);

const isHttpUrl = (value: string) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);

function isLocalUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname, username, pathname, search } = new URL(value);
  const isHere = hostname === 'localhost' || hostname === '[::1]' || (isIPv4(hostname) && hostname.startsWith('127.'));
  return protocol === 'http:' && isHere && username === '' && pathname === '/' && search === '';
}
