import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { EngineFailure } from '@svc/engine-kit/engine.ts';

/** A settings file of the program. What lies in a project may come from anybody who could write there. */
export type SettingsFile = { file: string; isProject: boolean };

/** Whatever makes the program pay by a key, or by the account of a cloud, instead of the login. */
const payingNames = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
];

/** In a project they would send the owner's login to another place. */
const leadingNames = ['ANTHROPIC_BASE_URL', 'HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'];

/** The settings that every turn has, whatever its sources. */
export const managedSettings: SettingsFile = {
  file:
    process.platform === 'darwin'
      ? '/Library/Application Support/ClaudeCode/managed-settings.json'
      : '/etc/claude-code/managed-settings.json',
  isProject: false,
};

/** The files behind the program's setting sources. */
export function settingsFiles(sources: readonly string[], env: Readonly<Record<string, string>>, cwd: string): SettingsFile[] {
  const own = env.CLAUDE_CONFIG_DIR ?? path.join(env.HOME ?? os.homedir(), '.claude');
  const files: Record<string, SettingsFile> = {
    user: { file: path.join(own, 'settings.json'), isProject: false },
    project: { file: path.join(cwd, '.claude/settings.json'), isProject: true },
    local: { file: path.join(cwd, '.claude/settings.local.json'), isProject: true },
  };
  return [managedSettings, ...sources.flatMap((source) => files[source] ?? [])];
}

/**
 * Looks for a key in settings files before the program starts: once it runs it may send the key along with its first request.
 * The failure names the file; null when there is none.
 */
export async function keyInSettings(files: readonly SettingsFile[]): Promise<EngineFailure | null> {
  for (const settings of files) {
    const name = keyIn(await readSettings(settings.file), settings);
    if (name !== undefined) return refusal(`${settings.file} sets ${name}`);
  }
  return null;
}

/** The turn does not run with a key: it would bill, and lose what a login has. */
export const refusal = (what: string): EngineFailure => ({
  code: 'engine_api_key_refused',
  message: `${what}: Claude would bill every turn, or send its login elsewhere. Remove it, and log in with "./svc engine login claude".`,
  retryable: false,
});

function keyIn(settings: Record<string, unknown>, { isProject }: SettingsFile): string | undefined {
  const env = isRecord(settings.env) ? settings.env : {};
  const names = isProject ? [...payingNames, ...leadingNames] : payingNames;
  const isSet = (value: unknown) => value !== undefined && value !== null && value !== '';
  return isSet(settings.apiKeyHelper) ? 'apiKeyHelper' : names.find((name) => isSet(env[name]));
}

/** What cannot be read the program does not take either. */
async function readSettings(file: string): Promise<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, ''));
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
