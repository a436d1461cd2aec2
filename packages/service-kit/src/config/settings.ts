import { readFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { homedir } from 'node:os';
import path from 'node:path';
import { parseEnv } from 'node:util';
import { spendPeriods, type SpendPeriodName } from '@svc/contract/spend.ts';
import { Secret } from '../secret.ts';
import { settingList, type SettingName } from './setting-list.ts';
import type { LogLevel } from '../log.ts';

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
  pricingFile: string;
  updateChannel: string;
  managerToken: Secret | null;
  insightsToken: Secret | null;
  insightsControlToken: Secret | null;
}>;

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
  const integer = (name: SettingName, min: number, max: number): number => {
    const value = raw(name) ?? '';
    const number = Number(value);
    if (!/^\d+$/.test(value.trim()) || number < min || number > max) {
      problems.push(`${name} is "${value}". It takes a whole number from ${min} to ${max}.`);
    }
    return number;
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
  const token = (name: SettingName): Secret | null => {
    const value = env[name];
    if (value === undefined) return null;
    if (value.trim() === '') {
      problems.push(`${name} is set but blank, which would leave the service open. Give it a value or remove it.`);
      return null;
    }
    return new Secret(value);
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
    allowedHosts: (optional('SVC_ALLOWED_HOSTS') ?? '')
      .split(',')
      .map((host) => host.trim().toLowerCase())
      .filter(Boolean),
    defaultEngine:
      optional('SVC_DEFAULT_ENGINE') === null ? null : oneOf('SVC_DEFAULT_ENGINE', ['claude', 'codex', 'gemini', 'offline']),
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
    pricingFile: file('SVC_PRICING_FILE', path.join(dataDir, 'pricing.json')),
    updateChannel: oneOf('SVC_UPDATE_CHANNEL', ['stable', 'edge']),
    managerToken: token('SVC_MANAGER_TOKEN'),
    insightsToken: token('SVC_INSIGHTS_TOKEN'),
    insightsControlToken: token('SVC_INSIGHTS_CONTROL_TOKEN'),
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

const isHttpUrl = (value: string) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
