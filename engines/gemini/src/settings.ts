import { existsSync } from 'node:fs';
import type { EngineRequest, ToolServer } from '@svc/engine-kit/engine.ts';
import { allowedToolServers } from '@svc/engine-kit/tool-servers.ts';
import { ownTools } from './tool-policy.ts';

/** Variable that holds a dollar sign: in settings one would begin a variable's name, and there is no other escape. */
export const dollarVariable = 'GEMINI_CLI_DOLLAR';

/** To connect, and for each call. A server that hangs holds up the turn for as long. */
const toolServerTimeoutMs = 60_000;

/** The program's settings for one turn: no calls home, no questions, the turn's tools and tool servers. */
export function turnSettings(request: EngineRequest): object {
  const { toolPolicy } = request;
  const tools = ownTools[toolPolicy];
  const isOwner = toolPolicy === 'full';
  return {
    security: {
      auth: { selectedType: 'gemini-api-key' },
      // With trust switched off the program would not start untrusted at all; see the environment.
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
      // The folders above the working folder are the owner's business.
      ...(!isOwner && { memoryBoundaryMarkers: [] }),
      // Files that came with the message are shown, whatever the working folder wants ignored.
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

/** A folder that is not there would be complained about. Who may only talk is shown what there is. */
const conversationFiles = ({ toolPolicy, filesDir }: EngineRequest): string[] =>
  toolPolicy !== 'none' && filesDir !== null && existsSync(filesDir) ? [verbatim(filesDir)] : [];

function toolServerSettings(server: ToolServer): object {
  // Without trust the tools of a server are not offered at all.
  const common = { trust: true, timeout: server.callTimeoutMs ?? toolServerTimeoutMs };
  if (server.type === 'http') return { ...common, httpUrl: verbatim(server.url), headers: twiceVerbatim(server.headers) };
  return { ...common, command: verbatim(server.command), args: server.args.map(verbatim), env: twiceVerbatim(server.env) };
}

/** A string as the settings must say it so that the program reads it as it is. */
const verbatim = (text: string): string => text.replaceAll('$', () => `\${${dollarVariable}}`);

/** Headers and environments have their variables replaced a second time, where a backslash is an escape. */
const twiceVerbatim = (values: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value.replaceAll('$', () => `\\\${${dollarVariable}}`)]),
  );
