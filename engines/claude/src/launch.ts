import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { engineEnv } from '@svc/engine-kit/engine-env.ts';
import type { EngineDeps, EngineRequest, ToolServer } from '@svc/engine-kit/engine.ts';
import { temporaryDir } from '@svc/engine-kit/temporary-files.ts';
import { configDir } from './config-dir.ts';
import { instructionsText } from './instructions.ts';
import { askedTools, questionTool } from './ask-person.ts';
import { ownTools, unusableTools } from './tool-permission.ts';

/** Maximum time that a tool server may delay a turn, and timeout of a call of its tools, ms. */
const startupLimitMs = 10_000;
const callLimitMs = 300_000;

/** Variables that the program would pass on to tool servers, which must not see the model's credentials. */
const ownSecrets = {
  ANTHROPIC_AUTH_TOKEN: '',
  ANTHROPIC_API_KEY: '',
  CLAUDE_CODE_OAUTH_TOKEN: '',
  CLAUDE_CODE_MESSAGING_TOKEN: '',
};

type Deps = Pick<EngineDeps, 'env' | 'baseUrl' | 'stateDir'>;

/**
 * The program's environment, from an allow-list. Keys and other vendors' settings are left out: with both a login and a key, the program
 * would silently bill the key. A self-hosted endpoint has its own token and folder.
 */
export function claudeEnv({ env, baseUrl, stateDir }: Deps): Record<string, string> {
  return {
    ...engineEnv(env, stateDir, baseUrl === null ? loginNames : []),
    ...(baseUrl !== null && endpointEnv(env, baseUrl, stateDir)),
    CLAUDE_CODE_TMPDIR: temporaryDir(stateDir),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    // Otherwise the tools of tool servers are hidden behind a search tool.
    ENABLE_TOOL_SEARCH: 'false',
    CLAUDE_CODE_MAX_RETRIES: '2',
    MCP_TIMEOUT: String(startupLimitMs),
    MCP_TOOL_TIMEOUT: String(callLimitMs),
    // No process may outlive its turn.
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    CLAUDE_AGENT_SDK_CLIENT_APP: 'assistant-gateway',
  };
}

const loginNames = ['CLAUDE_CONFIG_DIR', 'CLAUDE_CODE_OAUTH_TOKEN'];

/** The program's own folders: the operator's, and the one for turns with a self-hosted endpoint. */
export const configDirs = ({ env, stateDir }: Pick<Deps, 'env' | 'stateDir'>): readonly string[] => [
  configDir(env),
  endpointConfig(stateDir),
];

const endpointConfig = (stateDir: string): string => path.join(stateDir, 'config');

function endpointEnv(env: Deps['env'], baseUrl: string, stateDir: string): Record<string, string> {
  const dir = endpointConfig(stateDir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  return { CLAUDE_CONFIG_DIR: dir, ANTHROPIC_BASE_URL: baseUrl, ANTHROPIC_AUTH_TOKEN: endpointToken(env) };
}

/** The key for a self-hosted endpoint. */
export const endpointToken = (env: Deps['env']): string => env.ANTHROPIC_AUTH_TOKEN ?? 'local';

/** The SDK's options that are fixed while a program runs. Tool servers and permissions are set for each turn. */
export function claudeOptions(
  request: EngineRequest,
  { resume, env, notes }: { resume: string | null; env: Record<string, string>; notes: string },
): object {
  const own = ownTools[request.toolPolicy];
  const asks = request.ask !== undefined;
  const tools = own === null || !asks ? own : [...own, questionTool];
  const sources = settingSources(request);
  return {
    cwd: request.cwd,
    // The owner's notes about a folder are read whatever the setting sources are, so they are switched off for others.
    env: sources.includes('user') ? env : { ...env, CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1' },
    ...(request.model !== null && { model: request.model }),
    ...(resume !== null && { resume }),
    ...(request.purpose !== undefined && { persistSession: false }),
    includePartialMessages: true,
    // Without this, `@/any/path` in a chat message would add that file to the prompt, and `/command` would run.
    verbatimPrompts: true,
    // `snapshot: false`: a changed persona must also apply to existing sessions.
    systemPrompt: { type: 'custom', prompt: instructionsText(request, notes), snapshot: false },
    settingSources: sources,
    settings: settings(request),
    strictMcpConfig: sources.length < 3,
    mcpServersDelivery: 'initialize',
    permissionMode: 'default',
    ...(tools !== null && { tools }),
    disallowedTools: asks ? unusableTools : [...unusableTools, questionTool],
  };
}

/** Without the rule, the program would allow its reading tools whenever it believes that they stay in the folder. */
const settings = ({ toolPolicy, asks, trustedFolder }: EngineRequest): object => ({
  cleanupPeriodDays: 3650,
  ...(toolPolicy !== 'full' && { permissions: { ask: ownTools[toolPolicy] } }),
  ...(toolPolicy === 'full' && asks !== undefined && { permissions: { ask: askedTools } }),
  ...(trustedFolder && { enableAllProjectMcpServers: true }),
});

/**
 * The owner's context, skills, hooks and permissions are only for the owner; those of a folder, which can start any program, only for
 * folders that the operator trusts.
 */
export function settingSources({ toolPolicy, facts, trustedFolder }: EngineRequest): string[] {
  if (toolPolicy !== 'full') return [];
  return [...(facts.tier === 'SACRED' ? ['user'] : []), ...(trustedFolder ? ['project', 'local'] : [])];
}

/** Tool servers in the SDK's form, by name. */
export const toMcpServers = (servers: readonly ToolServer[]): Record<string, object> =>
  Object.fromEntries(
    servers.map(({ name, safe: _safe, callTimeoutMs: timeout, ...server }) => [
      name,
      {
        ...server,
        ...(server.type === 'stdio' && { env: { ...ownSecrets, ...server.env } }),
        ...(timeout !== undefined && { timeout }),
      },
    ]),
  );
