import { existsSync } from 'node:fs';
import type { EngineRequest, ToolServer } from '@svc/engine-kit/engine.ts';
import { allowedToolServers } from '@svc/engine-kit/tool-servers.ts';
import { ownTools } from './tool-policy.ts';

/** Variable that contains a dollar sign: in settings, a dollar sign begins a variable's name, and there is no other escape. */
export const dollarVariable = 'GEMINI_CLI_DOLLAR';

/** Timeout of connecting and of each call, ms. A hanging server delays the turn by this time. */
const toolServerTimeoutMs = 60_000;

/** The program's settings for one turn: no telemetry, no questions, the turn's tools and tool servers. */
export function turnSettings(request: EngineRequest): object {
  const { toolPolicy } = request;
  const tools = ownTools[toolPolicy];
  const isOwner = toolPolicy === 'full';
  return {
    security: {
      auth: { selectedType: 'gemini-api-key' },
      // With folder trust switched off, the program could not be started untrusted at all; see the environment.
      folderTrust: { enabled: toolPolicy !== 'none' },
      environmentVariableRedaction: { enabled: true },
    },
    general: {
      enableAutoUpdate: false,
      enableAutoUpdateNotification: false,
      maxAttempts: 2,
      sessionRetention: { enabled: false },
      plan: { enabled: false },
      topicUpdateNarration: false,
    },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    advanced: { ignoreLocalEnv: true },
    ui: { showCompatibilityWarnings: false, showHomeDirectoryWarning: false },
    context: {
      includeDirectoryTree: false,
      // Only the owner's turns may read instructions in the parents of the working folder.
      ...(!isOwner && { memoryBoundaryMarkers: [] }),
      // Files of the message are shown, even if the working folder ignores them.
      includeDirectories: conversationFiles(request),
      ...(request.attachments.length > 0 && { fileFiltering: { respectGitIgnore: false, respectGeminiIgnore: false } }),
    },
    tools: { useRipgrep: false, ...(tools !== null && { core: tools }) },
    hooksConfig: { enabled: false },
    skills: { enabled: isOwner },
    experimental: { enableAgents: isOwner },
    mcpServers: Object.fromEntries(allowedToolServers(request).map((server) => [server.name, toolServerSettings(server)])),
  };
}

/** The program would report a missing folder. A caller without tools gets the text of the files instead. */
const conversationFiles = ({ toolPolicy, filesDir }: EngineRequest): string[] =>
  toolPolicy !== 'none' && filesDir !== null && existsSync(filesDir) ? [verbatim(filesDir)] : [];

function toolServerSettings(server: ToolServer): object {
  // Without trust, the tools of a server are not offered at all.
  const common = { trust: true, timeout: server.callTimeoutMs ?? toolServerTimeoutMs };
  if (server.type === 'http') return { ...common, httpUrl: verbatim(server.url), headers: twiceVerbatim(server.headers) };
  return { ...common, command: verbatim(server.command), args: server.args.map(verbatim), env: twiceVerbatim(server.env) };
}

/** Escapes a string so that the program reads it unchanged from the settings. */
const verbatim = (text: string): string => text.replaceAll('$', () => `\${${dollarVariable}}`);

/** Headers and environments have their variables replaced a second time, and a backslash is then an escape. */
const twiceVerbatim = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value.replaceAll('$', () => `\\\${${dollarVariable}}`)]),
  );
