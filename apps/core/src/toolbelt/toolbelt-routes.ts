import { toolbeltName } from '@svc/contract/tool-server.ts';
import { toolDescriptions, toolInputs, toolNames, type ToolAnswer, type ToolName } from '@svc/contract/toolbelt.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import type { CoreSettings } from '@svc/service-kit/config/process-settings.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { valueInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import { forbidden, ServiceError } from '@svc/service-kit/service-error.ts';
import type { ToolServers } from '../tool-server/tool-servers.ts';
import type { TrustService } from '../trust/trust-service.ts';
import type { Pipeline } from '../turn/pipeline.ts';
import { resolveIdentity } from '../turn/steps/admit.ts';
import { createCollectorReader } from './collector-reader.ts';
import { rightsOf, type ToolCaller } from './tool-caller.ts';
import type { Toolbelt } from './toolbelt.ts';
import { announce } from './tools/announce.ts';
import { send } from './tools/send.ts';
import { listSessions } from './tools/sessions.ts';
import type { Tool, ToolDeps } from './tools/tool.ts';
import { react } from './tools/react.ts';
import { replyWithFile } from './tools/reply-file.ts';
import { listUploads } from './tools/uploads.ts';
import { drawMap, whoTouched } from './tools/work.ts';

const tools = {
  svc_sessions: listSessions,
  svc_map: drawMap,
  svc_who: whoTouched,
  svc_send: send,
  svc_reply_file: replyWithFile,
  svc_react: react,
  svc_announce: announce,
  svc_uploads: listUploads,
} satisfies { [Name in ToolName]: Tool<Name> };

/** A tool whose input has passed its own schema. */
type CheckedTool = (deps: ToolDeps, caller: ToolCaller, input: never) => Promise<object>;

type Deps = Omit<ToolDeps, 'readCollector' | 'turnActions'> & {
  settings: Pick<CoreSettings, 'bindHost' | 'collectorPort' | 'insightsToken'>;
  pipeline: Pick<Pipeline, 'turnActions'>;
  toolbelt: Toolbelt;
  toolServers: ToolServers;
  trust: TrustService;
};

const maxBodyBytes = 256 * 1024;

/**
 * `POST /v2/toolbelt/:tool`: where the toolbelt's process sends every call. The token identifies the turn; that person's rights are checked
 * here, again for every call.
 */
export function mountToolbeltRoutes(app: App, context: Deps): void {
  const { bindHost, collectorPort, insightsToken } = context.settings;
  const readCollector = createCollectorReader(`http://${bindHost}:${collectorPort}`, insightsToken);
  for (const name of toolNames) mountTool(app, { ...context, readCollector, turnActions: context.pipeline.turnActions }, name);
}

function mountTool(app: App, deps: Deps & ToolDeps, name: ToolName): void {
  const tool: CheckedTool = tools[name];
  const body: object = toolInputs[name];
  const callerOf = (header: string | undefined) => {
    const caller = deps.toolbelt.callerOf(bearerOf(header) ?? '');
    if (caller === null) throw new ServiceError('unauthorized', 'This token belongs to no running turn.');
    // Checked here because every call ends here, from a turn or from an operator's own client over stdio.
    if (!deps.toolServers.isOn(toolbeltName)) throw switchedOff();
    return caller;
  };
  app.post(
    `/v2/toolbelt/${name}`,
    {
      bodyLimit: maxBodyBytes,
      schema: { body, hide: true },
      // Before the body is read: an unauthorized caller learns nothing about valid input.
      onRequest: async ({ headers }) => void callerOf(headers.authorization),
    },
    async ({ headers, body: input }): Promise<ToolAnswer> => {
      const caller = callerOf(headers.authorization);
      try {
        await refreshIdentity(deps, caller);
        checkAllowed(caller, name);
        const result = await tool(deps, caller, input as never);
        // The result may leave this machine: for an operator's client, or a model's provider.
        return { ok: true, result: await valueInSlices(deps.knownSecrets.redactor(), result) };
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'forbidden') deps.events.toolRefused(caller, name, error.message);
        throw error;
      }
    },
  );
}

/** Resolves the identity again, because trust may have changed since the turn began. */
async function refreshIdentity(deps: { trust: TrustService }, caller: ToolCaller): Promise<void> {
  if (caller.turn !== null) caller.identity = await resolveIdentity(deps, caller.turn);
}

const switchedOff = () =>
  forbidden(`${toolbeltName} is switched off. The operator can switch it on: ./svc tool toggle ${toolbeltName}`);

function checkAllowed(caller: ToolCaller, name: ToolName): void {
  const { tools: allowed } = rightsOf(caller);
  const { readOnly, forReaders = false } = toolDescriptions[name];
  if (allowed === 'full' || (allowed === 'read' && (readOnly || forReaders))) return;
  throw forbidden(`${name} is not allowed for the person who wrote the message.`);
}
