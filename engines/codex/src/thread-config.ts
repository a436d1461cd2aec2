import type { EngineRequest, ToolServer } from '@svc/engine-kit/engine.ts';
import { allowedToolServers } from '@svc/engine-kit/turn-text.ts';
import type { CodexProgram } from './find-codex.ts';

/** Where codex sends its model requests when not to the vendor. */
export type Endpoint = { url: string; token: string };

/** Variable of the program's environment that holds its key in API-key mode. */
export const keyVariable = 'OPENAI_API_KEY';
const vendorUrl = 'https://api.openai.com/v1';

/** The longest that a tool server holds up a turn, and a call of one of its tools, in seconds. */
const startupLimitS = 10;
const callLimitS = 300;

type Config = Record<string, unknown>;

/** Flags of the one app-server process: nothing outside the turn, threads gone as soon as they are let go. */
export const appServerArgs = [
  'app-server',
  ...[
    'analytics.enabled=false',
    'check_for_update_on_startup=false',
    'features.plugins=false',
    'features.apps=false',
    'features.daemon_auto_start=false',
    'features.shell_snapshot=false',
    'features.unbounded_connection_retries=false',
    'features.enable_request_compression=false',
    // A loaded thread keeps the policy and tool servers of the turn that loaded it, whatever a later turn asks for.
    'thread_unload_delay_secs=0',
  ].flatMap((setting) => ['-c', setting]),
];

/** Parameters of `thread/start` and `thread/resume` for one turn. They travel over stdin: secrets stay out of the process list. */
export function threadParams(request: EngineRequest, program: CodexProgram, endpoint: Endpoint | 'vendor_by_key' | null): object {
  return {
    cwd: request.cwd,
    approvalPolicy: 'never',
    developerInstructions: request.system,
    ...(request.model !== null && { model: request.model }),
    ...(request.toolPolicy !== 'read' && { sandbox: request.toolPolicy === 'full' ? 'danger-full-access' : 'read-only' }),
    config: {
      ...(endpoint === 'vendor_by_key' ? byKeyConfig : endpoint && providerConfig(endpoint.url, bearer(endpoint))),
      ...policyConfig(request, program),
      mcp_servers: Object.fromEntries(allowedToolServers(request).map((server) => [server.name, toolServerConfig(server)])),
      // Without it a server that takes over a second to start is left out of the turn without a word.
      mcp_optional_startup_grace_ms: (startupLimitS + 1) * 1000,
    },
  };
}

const providerConfig = (url: string, credentials: Config): Config => ({
  model_provider: 'svc',
  model_providers: {
    svc: {
      name: 'svc',
      base_url: url,
      wire_api: 'responses',
      ...credentials,
      request_max_retries: 1,
      stream_max_retries: 1,
    },
  },
});

const bearer = ({ token }: Endpoint): Config => ({ experimental_bearer_token: token });

/** The program's own provider takes no key from the environment. */
const byKeyConfig: Config = providerConfig(vendorUrl, { env_key: keyVariable });

/** No questions to a person who is not there, no agents besides the one of the turn. */
const quietFeatures: Config = {
  'features.multi_agent': false,
  'features.multi_agent_v2': false,
  'features.sleep_tool': false,
  'features.goals': false,
  'tools.experimental_request_user_input': { enabled: false },
};

function policyConfig({ toolPolicy, attachments }: EngineRequest, program: CodexProgram): Config {
  switch (toolPolicy) {
    case 'none':
      return {
        ...quietFeatures,
        'features.shell_tool': false,
        'features.unified_exec': false,
        'features.view_image': false,
        web_search: 'disabled',
      };
    case 'read':
      return { ...quietFeatures, ...readOnlyProfile([program.packageDir, ...attachments.map((file) => file.path)]) };
    case 'full':
      return { ...quietFeatures, shell_environment_policy: { inherit: 'all', exclude: [keyVariable] } };
  }
}

/** Commands see the conversation's folder and the named ones, can change nothing and reach no network. */
const readOnlyProfile = (readable: string[]): Config => ({
  default_permissions: 'svc_read',
  permissions: {
    svc_read: {
      filesystem: {
        ':minimal': 'read',
        ':workspace_roots': { '.': 'read' },
        ...Object.fromEntries(readable.map((folder) => [folder, 'read'])),
      },
    },
  },
  shell_environment_policy: { inherit: 'core' },
  web_search: 'disabled',
});

function toolServerConfig(server: ToolServer): Config {
  // Nobody is there to approve a call; what may be called was decided by which servers are offered.
  const common = { default_tools_approval_mode: 'approve', startup_timeout_sec: startupLimitS, tool_timeout_sec: callLimitS };
  if (server.type === 'stdio') return { ...common, command: server.command, args: server.args, env: server.env };
  return { ...common, url: server.url, http_headers: server.headers };
}
