import { readdir } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { isRecord } from '@svc/contract/json-value.ts';
import type { EngineFailure } from '@svc/engine-kit/engine.ts';
import { readBeginning } from '@svc/engine-kit/read-beginning.ts';
import { errorText } from '@svc/service-kit/service-error.ts';

/** A settings file of the program. A project's file may come from anyone who can write to the project. */
export type SettingsFile = { file: string; isProject: boolean };

/** Settings that make the program pay with an API key or a cloud account instead of the login. */
const payingNames = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK',
  'CLAUDE_CODE_USE_VERTEX',
  'CLAUDE_CODE_USE_FOUNDRY',
];

/** In a project's settings, these would send the owner's login to another server. Proxy variables are read in upper and lower case. */
const proxyNames = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'];
const leadingNames = ['ANTHROPIC_BASE_URL', ...proxyNames, ...proxyNames.map((name) => name.toLowerCase())];

/** Folder of the administrator's settings, which apply to every turn whatever its setting sources. */
const managedDir = process.platform === 'darwin' ? '/Library/Application Support/ClaudeCode' : '/etc/claude-code';

/** The files behind the program's setting sources, and those that always apply: the administrator's, and those that the vendor has sent. */
export async function settingsFiles(
  sources: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd: string,
  managed = managedDir,
): Promise<SettingsFile[]> {
  const own = env.CLAUDE_CONFIG_DIR ?? path.join(env.HOME ?? os.homedir(), '.claude');
  const always = [
    path.join(managed, 'managed-settings.json'),
    ...(await dropIns(managed)),
    path.join(own, 'remote-settings.json'),
  ];
  const files: Record<string, SettingsFile> = {
    user: { file: path.join(own, 'settings.json'), isProject: false },
    project: { file: path.join(cwd, '.claude/settings.json'), isProject: true },
    local: { file: path.join(cwd, '.claude/settings.local.json'), isProject: true },
  };
  return [...always.map((file) => ({ file, isProject: false })), ...sources.flatMap((source) => files[source] ?? [])];
}

async function dropIns(managed: string): Promise<string[]> {
  const dir = path.join(managed, 'managed-settings.d');
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(error.code ?? '')) return []; // the program cannot read it either
    throw error;
  });
  return names.filter((name) => name.endsWith('.json')).map((name) => path.join(dir, name));
}

/**
 * Looks for a key in settings files before the program starts: once it runs, it may use the key in its first request. The failure names the
 * file; null when there is no key.
 */
export async function keyInSettings(files: readonly SettingsFile[]): Promise<EngineFailure | null> {
  for (const settings of files) {
    const fault = await faultIn(settings);
    if (fault !== null) return refusal(`${settings.file} ${fault}`);
  }
  return null;
}

/** Why a turn is refused: it would be billed. `what` is a whole sentence without its full stop. */
export const refusal = (what: string): EngineFailure => ({
  code: 'engine_api_key_refused',
  message: `${what}. Remove that setting, then log in with "./svc engine login claude".`,
  retryable: false,
});

const maxBytes = 1024 * 1024;

/** The rest of a sentence that begins with the file; null when the file may be used. */
async function faultIn({ file, isProject }: SettingsFile): Promise<string | null> {
  const beginning = await readBeginning(file, maxBytes);
  if (beginning === 'absent') return null;
  if (beginning === 'not_a_file' || !beginning.isWhole) return 'cannot be checked: it is not a regular file, or it is too large';
  try {
    const text = new TextDecoder().decode(beginning.bytes);
    return text.trim() === '' ? null : keyIn(JSON.parse(text), isProject);
  } catch (error) {
    // The program may be able to read it, and would then use a key that was not seen here.
    return `cannot be read, so it may set an API key (${errorText(error)})`;
  }
}

function keyIn(settings: unknown, isProject: boolean): string | null {
  if (!isRecord(settings)) return null;
  const env = isRecord(settings.env) ? settings.env : {};
  const isSet = (value: unknown) => value !== undefined && value !== null && value !== '';
  const paying = isSet(settings.apiKeyHelper) ? 'apiKeyHelper' : payingNames.find((name) => isSet(env[name]));
  if (paying !== undefined) return `sets ${paying}, so Claude would bill every turn`;
  const leading = isProject ? leadingNames.find((name) => isSet(env[name])) : undefined;
  return leading === undefined ? null : `sets ${leading}, which would send Claude's login to another server`;
}
