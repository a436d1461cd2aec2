import { existsSync } from 'node:fs';
import type { EngineRequest, ToolServer } from '@svc/engine-kit/engine.ts';
import { allowedToolServers } from '@svc/engine-kit/tool-servers.ts';
import type { ModelCatalogs } from './model-catalog.ts';

/** Where codex sends its model requests, if not to the vendor. */
export type Endpoint = { url: string; token: string };

/** The folders and variables that codex needs. */
export type ThreadPlace = {
  packageDir: string;
  catalogs: ModelCatalogs;
  /** An empty folder. */
  emptyDir: string;
  /** The operator's own home folder, which the program itself cannot see. */
  ownerHome: string;
  /** Identifies processes of this conversation's commands. */
  mark: string;
};

/** Variable with the mark, set only for commands. */
export const markVariable = 'GATEWAY_CODEX_TURN';

/** Environment variable with the program's key in API-key mode. */
export const keyVariable = 'OPENAI_API_KEY';
const vendorUrl = 'https://api.openai.com/v1';

/** Maximum time that a tool server may delay a turn, and timeout of a call of its tools, s. */
const startupLimitS = 10;
/** Slightly longer, because codex itself reports a server that took too long. */
export const toolServersLimitMs = (startupLimitS + 1) * 1000;
const callLimitS = 300;

type Config = Record<string, unknown>;

/** Flags of the only app-server process: it uses nothing outside the turn, and unloads threads as soon as they are released. */
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
    // A loaded thread keeps the policy and tool servers of the turn that loaded it, whatever a later turn requests.
    'thread_unload_delay_secs=0',
  ].flatMap((setting) => ['-c', setting]),
];

/**
 * Parameters of `thread/start` and `thread/resume` for one turn. They are passed over stdin, which keeps secrets out of the process list.
 * `instructions` replace the vendor's own prompt, even in a thread that began with others.
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
    // Without tools, the caller must not even see the file names of the conversation's folder, and the folder may contain skills.
    cwd: toolPolicy === 'none' ? place.emptyDir : request.cwd,
    approvalPolicy: asks ? 'on-request' : 'never',
    baseInstructions: instructions,
    ...(request.model !== null && { model: request.model }),
    // Nothing of a side call is stored.
    ...(request.purpose !== undefined && { ephemeral: true }),
    ...(toolPolicy !== 'read' && { sandbox: toolPolicy === 'full' && !asks ? 'danger-full-access' : 'read-only' }),
    config: {
      ...(endpoint === 'vendor_by_key' ? byKeyConfig : endpoint && providerConfig(endpoint.url, bearer(endpoint))),
      ...policyConfig(request, place),
      mcp_servers: Object.fromEntries(
        allowedToolServers(request).map((server) => [server.name, toolServerConfig(server, place.ownerHome, asks)]),
      ),
      // Without it, a server that takes over a second to start is silently left out of the turn.
      mcp_optional_startup_grace_ms: toolServersLimitMs,
    },
  };
}

/** Only full rights allow more than reading: it then runs in a sandbox for reading, and anything beyond that is asked about. */
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
      // A reply that was cut off would be requested again, and appear twice.
      stream_max_retries: 0,
    },
  },
});

const bearer = ({ token }: Endpoint): Config => ({ experimental_bearer_token: token });

/** The program's own provider does not read a key from the environment. */
const byKeyConfig: Config = providerConfig(vendorUrl, { env_key: keyVariable });

/** No questions to an absent person, no agents besides the turn's own, and no prompt but ours. */
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

/**
 * Below full rights nothing of the surrounding folders applies: no instructions, skills or hooks of a repository that contains the turn's
 * folder.
 */
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
        // The model must know that it can ask.
        ...(isAsking(request) && { include_permissions_instructions: true, web_search: 'disabled' }),
        'features.hooks': trustedFolder,
        // Set each time: codex would otherwise trust a folder for ever once it was started there with full rights.
        projects: { [cwd]: { trust_level: trustedFolder ? 'trusted' : 'untrusted' } },
        model_catalog_json: catalogs.writer,
        shell_environment_policy: { inherit: 'all', exclude: [keyVariable], set: { HOME: ownerHome, [markVariable]: mark } },
      };
  }
}

/** Commands can read the conversation's folder and the named ones, change nothing and reach no network. */
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
  // Without a person to approve calls, the list of offered servers decides what may be called.
  const mode = asks && !server.safe ? 'prompt' : 'approve';
  const callS = server.callTimeoutMs === undefined ? callLimitS : Math.ceil(server.callTimeoutMs / 1000);
  const common = { default_tools_approval_mode: mode, startup_timeout_sec: startupLimitS, tool_timeout_sec: callS };
  if (server.type === 'stdio')
    return { ...common, command: server.command, args: server.args, env: { HOME: ownerHome, ...server.env } };
  return { ...common, url: server.url, http_headers: server.headers };
}
