import { existsSync } from 'node:fs';
import type { EngineRequest, ToolServer } from '@svc/engine-kit/engine.ts';
import { allowedToolServers } from '@svc/engine-kit/tool-servers.ts';
import type { ModelCatalogs } from './model-catalog.ts';

/** Where codex sends its model requests when not to the vendor. */
export type Endpoint = { url: string; token: string };

/** Where a codex finds what it needs. */
export type ThreadPlace = {
  packageDir: string;
  catalogs: ModelCatalogs;
  /** A folder with nothing in it. */
  emptyDir: string;
  /** The operator's own home folder, which the program itself is not shown. */
  ownerHome: string;
  /** What processes of this conversation's commands are found by. */
  mark: string;
};

/** Variable of commands alone that holds their mark. */
export const markVariable = 'GATEWAY_CODEX_TURN';

/** Variable of the program's environment that holds its key in API-key mode. */
export const keyVariable = 'OPENAI_API_KEY';
const vendorUrl = 'https://api.openai.com/v1';

/** The longest that a tool server holds up a turn, and a call of one of its tools, in seconds. */
const startupLimitS = 10;
/** Codex says itself of a server that it took too long, so this is a little longer. */
export const toolServersLimitMs = (startupLimitS + 1) * 1000;
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
    'skills.bundled.enabled=false',
    // A loaded thread keeps the policy and tool servers of the turn that loaded it, whatever a later turn asks for.
    'thread_unload_delay_secs=0',
  ].flatMap((setting) => ['-c', setting]),
];

/**
 * Parameters of `thread/start` and `thread/resume` for one turn. They travel over stdin: secrets stay out of the process list.
 * `instructions` stand in place of the vendor's own prompt, also in a thread that began with others.
 */
export function threadParams(
  request: EngineRequest,
  place: ThreadPlace,
  endpoint: Endpoint | 'vendor_by_key' | null,
  instructions = request.system,
): object {
  const { toolPolicy } = request;
  const asks = isAsking(request);
  return {
    // A caller who may only talk must not even see the names of files in the conversation's folder, and there may be skills in it.
    cwd: toolPolicy === 'none' ? place.emptyDir : request.cwd,
    approvalPolicy: asks ? 'on-request' : 'never',
    baseInstructions: instructions,
    ...(request.model !== null && { model: request.model }),
    ...(toolPolicy !== 'read' && { sandbox: toolPolicy === 'full' && !asks ? 'danger-full-access' : 'read-only' }),
    config: {
      ...(endpoint === 'vendor_by_key' ? byKeyConfig : endpoint && providerConfig(endpoint.url, bearer(endpoint))),
      ...policyConfig(request, place),
      mcp_servers: Object.fromEntries(
        allowedToolServers(request).map((server) => [server.name, toolServerConfig(server, place.ownerHome, asks)]),
      ),
      // Without it a server that takes over a second to start is left out of the turn without a word.
      mcp_optional_startup_grace_ms: toolServersLimitMs,
    },
  };
}

/** Only with full rights is there more than reading: it is read in a sandbox, and what leads out of that is asked about. */
const isAsking = ({ toolPolicy, ask }: EngineRequest): boolean => toolPolicy === 'full' && ask !== undefined;

const providerConfig = (url: string, credentials: Config): Config => ({
  model_provider: 'svc',
  model_providers: {
    svc: {
      name: 'svc',
      base_url: url,
      wire_api: 'responses',
      ...credentials,
      request_max_retries: 1,
      // A reply that was cut would be asked for again, and stand there twice.
      stream_max_retries: 0,
    },
  },
});

const bearer = ({ token }: Endpoint): Config => ({ experimental_bearer_token: token });

/** The program's own provider takes no key from the environment. */
const byKeyConfig: Config = providerConfig(vendorUrl, { env_key: keyVariable });

/** No questions to a person who is not there, no agents besides the one of the turn, and no prompt but ours. */
const quiet: Config = {
  'agents.enabled': false,
  'features.multi_agent': false,
  'features.multi_agent_v2': false,
  'features.sleep_tool': false,
  'features.goals': false,
  'features.memories': false,
  'features.image_generation': false,
  'features.tool_suggest': false,
  'features.skill_search': false,
  'tools.experimental_request_user_input': { enabled: false },
  'tools.update_plan': { enabled: false },
  'skills.include_instructions': false,
  include_permissions_instructions: false,
  include_apps_instructions: false,
  include_collaboration_mode_instructions: false,
};

/** Below full rights nothing of the folders around counts: no instructions, skills or hooks of a repository that contains the turn's folder. */
const withoutProject: Config = {
  'features.hooks': false,
  project_doc_max_bytes: 0,
  project_root_markers: [],
  web_search: 'disabled',
};

function policyConfig(request: EngineRequest, { packageDir, catalogs, ownerHome, mark }: ThreadPlace): Config {
  const { toolPolicy, filesDir, cwd, trustedFolder } = request;
  switch (toolPolicy) {
    case 'none':
      return {
        ...quiet,
        ...withoutProject,
        model_catalog_json: catalogs.reader,
        include_environment_context: false,
        'features.shell_tool': false,
        'features.unified_exec': false,
        'features.view_image': false,
      };
    case 'read':
      return {
        ...quiet,
        ...withoutProject,
        model_catalog_json: catalogs.reader,
        ...readOnlyProfile([packageDir, ...(filesDir !== null && existsSync(filesDir) ? [filesDir] : [])]),
        shell_environment_policy: { inherit: 'core', set: { [markVariable]: mark } },
      };
    case 'full':
      return {
        ...quiet,
        // The model has to know that it can ask.
        ...(isAsking(request) && { include_permissions_instructions: true, web_search: 'disabled' }),
        'features.hooks': trustedFolder,
        // Said each time: codex would trust for ever what it was once started in with full rights.
        projects: { [cwd]: { trust_level: trustedFolder ? 'trusted' : 'untrusted' } },
        model_catalog_json: catalogs.writer,
        shell_environment_policy: { inherit: 'all', exclude: [keyVariable], set: { HOME: ownerHome, [markVariable]: mark } },
      };
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
});

function toolServerConfig(server: ToolServer, ownerHome: string, asks: boolean): Config {
  // Where nobody is to approve a call, which servers are offered decides what may be called.
  const mode = asks && !server.safe ? 'prompt' : 'approve';
  const callS = server.callTimeoutMs === undefined ? callLimitS : Math.ceil(server.callTimeoutMs / 1000);
  const common = { default_tools_approval_mode: mode, startup_timeout_sec: startupLimitS, tool_timeout_sec: callS };
  if (server.type === 'stdio')
    return { ...common, command: server.command, args: server.args, env: { HOME: ownerHome, ...server.env } };
  return { ...common, url: server.url, http_headers: server.headers };
}
