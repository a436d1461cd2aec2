import { deviceToolsName, type DeviceToolList } from '@svc/contract/device-tools.ts';
import { maxCallChars, methodPattern } from '@svc/contract/instance-call.ts';
import type { ToolAnswer } from '@svc/contract/toolbelt.ts';
import { bearerOf } from '@svc/service-kit/http/bearer-auth.ts';
import type { App } from '@svc/service-kit/http/create-app.ts';
import { valueInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { KnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { forbidden, ServiceError } from '@svc/service-kit/service-error.ts';
import type { CallInstance } from '../delivery/instance-caller.ts';
import type { Events } from '../events.ts';
import type { ToolServers } from '../tool-server/tool-servers.ts';
import type { TrustService } from '../trust/trust-service.ts';
import { outboundTarget } from '../turn/route-of.ts';
import { resolveIdentity } from '../turn/steps/admit.ts';
import type { Turn } from '../turn/turn.ts';
import { turnRedactor } from '../turn/turn-redactor.ts';
import { deviceToolsOf } from './device-tools.ts';
import type { ToolCaller } from './tool-caller.ts';
import type { Toolbelt } from './toolbelt.ts';

type Deps = {
  toolbelt: Pick<Toolbelt, 'device'>;
  toolServers: Pick<ToolServers, 'isOn'>;
  trust: TrustService;
  events: Pick<Events, 'toolRefused'>;
  knownSecrets: Pick<KnownSecrets, 'redactor'>;
  callInstance: CallInstance;
};

const body = {
  type: 'object',
  required: ['tool'],
  additionalProperties: false,
  properties: { tool: { type: 'string', pattern: methodPattern }, input: { type: 'object' } },
} as const;
const callsPerTurn = 100;

/**
 * `/v2/device-tools`: where the toolbelt's process asks what the device of a turn can do, and sends every call. The token identifies the
 * turn; its own message lists the tools, and the sender's rights are checked for every call.
 */
export function mountDeviceToolRoutes(app: App, deps: Deps): void {
  const counts = new WeakMap<Turn, number>();
  const callerOf = (header: string | undefined): ToolCaller => {
    const caller = deps.toolbelt.device.callerOf(bearerOf(header) ?? '');
    if (caller === null) throw new ServiceError('unauthorized', 'This token belongs to no running turn.');
    if (!deps.toolServers.isOn(deviceToolsName)) throw forbidden(`${deviceToolsName} is switched off.`);
    return caller;
  };
  const onRequest = async ({ headers }: { headers: { authorization?: string } }) => void callerOf(headers.authorization);
  /** Resolves the caller again, because trust may have changed since the turn began. */
  const judged = async (header: string | undefined): Promise<ToolCaller> => {
    const caller = callerOf(header);
    if (caller.turn !== null) caller.identity = await resolveIdentity(deps, caller.turn);
    return caller;
  };

  app.get('/v2/device-tools', { schema: { hide: true }, onRequest }, async ({ headers }): Promise<DeviceToolList> => ({
    ok: true,
    tools: deviceToolsOf(await judged(headers.authorization)),
  }));

  app.post(
    '/v2/device-tools',
    { schema: { body, hide: true }, bodyLimit: maxCallChars.params, onRequest },
    async ({ headers, body: { tool, input = {} } }, reply): Promise<ToolAnswer> => {
      const left = new AbortController();
      reply.raw.once('close', () => left.abort());
      const caller = await judged(headers.authorization);
      const call = toCall(deps, caller, { tool, input });
      count(counts, call.turn);
      if (call.offered.asks === true) await askFirst(deps, caller, { tool, input, gone: left.signal });
      const masked = call.offered.public === true ? await valueInSlices(turnRedactor(deps, call.turn), input) : input;
      const params = call.offered.call === undefined ? masked : { tool, params: masked };
      const method = call.offered.call ?? tool;
      const result = await deps.callInstance({ ...call.place, method, params: params as object }, left.signal);
      // The result goes to a model, which others may operate.
      return { ok: true, result: await valueInSlices(deps.knownSecrets.redactor(), result) };
    },
  );
}

/** The instance and the device of the turn's own conversation; a caller cannot name others. */
function toCall({ events }: Pick<Deps, 'events'>, caller: ToolCaller, { tool }: { tool: string; input: object }) {
  const { turn } = caller;
  const offered = deviceToolsOf(caller).find(({ name }) => name === tool);
  if (turn === null || turn.instanceId === null || offered === undefined) {
    const why = `${tool} is not a tool of this device that the person who wrote the message may use.`;
    events.toolRefused(caller, tool, why);
    throw forbidden(why);
  }
  const target = outboundTarget(turn.envelope.channel_context) ?? '';
  return { turn, place: { instance_id: turn.instanceId, target }, offered };
}

const yes = { id: 'yes', label: 'Yes', style: 'primary' } as const;
const no = { id: 'no', label: 'No', style: 'danger' } as const;
type Asking = { tool: string; input: object; gone: AbortSignal };

/** The person sees the whole input; a question that is too long is marked as cut. @throws ServiceError `forbidden` unless they say yes. */
async function askFirst({ events }: Pick<Deps, 'events'>, caller: ToolCaller, { tool, input, gone }: Asking) {
  const how = Object.keys(input).length === 0 ? '' : `\n${JSON.stringify(input)}`;
  const answer = await caller.ask?.({ text: `May I use "${tool}" on your device?${how}`, options: [yes, no] }, gone);
  if (answer?.option === yes.id) return;
  const why = answer?.outcome === 'answered' ? `The person refused ${tool}.` : `Nobody allowed ${tool}.`;
  events.toolRefused(caller, tool, why);
  throw forbidden(why);
}

function count(counts: WeakMap<Turn, number>, turn: Turn): void {
  const made = (counts.get(turn) ?? 0) + 1;
  if (made > callsPerTurn)
    throw new ServiceError('busy', `This turn has asked the device ${callsPerTurn} times, which is the limit.`);
  counts.set(turn, made);
}
