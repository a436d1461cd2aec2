import { badRequest, forbidden, unavailable } from '@svc/service-kit/service-error.ts';
import type { SendTarget } from '@svc/contract/send.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import type { Route } from '../../delivery/delivery-store.ts';
import { routeOf } from '../../turn/route-of.ts';
import { turnRedactor } from '../../turn/turn-redactor.ts';
import { conversationOf, countWrite, rightsOf, type ToolCaller } from '../tool-caller.ts';
import { sendFile } from './send-file.ts';
import type { Tool, ToolDeps } from './tool.ts';

type Asked = { channel?: string; instance_id?: string; target?: string };

/** How long a call waits for the first attempt. */
const firstTryMs = 10_000;

/**
 * Sends something through a connector. A text goes through the outbox: masked, stored, retried. Callers without full reach can only send
 * texts to the place of their own conversation, and only an owner to places where messages steer a session instead of being shown.
 */
export const send: Tool<'svc_send'> = async (deps, caller, { text, path, caption, kind, ...asked }) => {
  if ((text === undefined) === (path === undefined)) throw badRequest('Give "text", or "path" with a "caption".');
  if (path !== undefined && rightsOf(caller).reach !== 'all') throw notAllowed('Sending files');
  if (kind !== undefined && steeringKinds.includes(kind) && !maySteer(caller)) throw notAllowed(`The kind "${kind}"`);
  const route = await placeOf(deps, caller, asked);
  countWrite(caller);
  return path === undefined
    ? sendText(deps, caller, route, { text: text ?? '', kind })
    : sendFile(deps, route, path, { caption, kind });
};

/** Messages of these kinds are answered or executed with the rights of the person there. */
const steeringKinds: readonly string[] = ['inject', 'interrupt'];
const maySteer = (caller: ToolCaller): boolean => rightsOf(caller).reach === 'all' && caller.identity.trust_tier === 'SACRED';

async function placeOf(deps: ToolDeps, caller: ToolCaller, asked: Asked): Promise<Route> {
  const here = caller.turn === null ? null : routeOf(caller.turn);
  const { channel, instance_id, target } = asked;
  const isHere = channel === undefined && instance_id === undefined && target === undefined;
  if (isHere && here !== null) return here;
  if (isHere) throw badRequest('This conversation cannot be pushed to. Name a "channel" or an "instance_id", and a "target".');
  if (rightsOf(caller).reach !== 'all') {
    if (here === null || !isSame(here, caller, asked)) throw notAllowed('Sending to others');
    return here;
  }
  const named = instance_id === undefined && channel !== undefined ? await findInstance(deps, channel) : null;
  const instance = instance_id ?? named?.instance_id ?? here?.instance_id;
  if (instance === undefined) throw badRequest('Name the "channel" or the "instance_id" to send through.');
  if (!maySteer(caller) && steers(named ?? (await readTarget(deps, instance)))) throw notAllowed(`Sending through "${instance}"`);
  return { instance_id: instance, target: target ?? '' };
}

/** Whether the requested place is exactly the caller's own. */
const isSame = (here: Route, { turn }: ToolCaller, { channel, instance_id, target }: Asked): boolean =>
  target === here.target &&
  (instance_id ?? here.instance_id) === here.instance_id &&
  (channel ?? turn?.envelope.channel) === turn?.envelope.channel;

type Words = { text: string; kind?: string };

async function sendText(deps: ToolDeps, caller: ToolCaller, route: Route, words: Words): Promise<object> {
  const { ids, outbox } = deps;
  // Belongs to no turn: its outcome does not settle the reply of the turn that sent it.
  const about = { turn_id: ids.next('snd'), turn_seq: 0, conversation_key: conversationOf(caller) ?? 'operator' };
  const said = { ...words, text: await shownText(deps, caller, words.text) };
  const delivery = await outbox.push({ ...about, ...said, injected: false, route, error: null });
  const outcome = await outbox.firstTry(delivery, firstTryMs);
  const sent = { delivered: outcome.delivered, delivery_id: delivery.id, ...route };
  if (outcome.delivered) return sent;
  return { ...sent, why: outcome.error, note: outcome.permanent ? 'It failed permanently.' : 'It is kept and tried again.' };
}

/** A turn on a public surface sends only to that surface, where the outbox's own mask is not strict enough. */
const shownText = (deps: ToolDeps, { turn }: ToolCaller, text: string): string | Promise<string> =>
  turn?.envelope.public === true ? textInSlices(turnRedactor(deps, turn), text) : text;

const notAllowed = (what: string) => forbidden(`${what} is not allowed for the person who wrote the message, or not from here.`);

const timeoutMs = 5000;

/**
 * Finds the one instance that matches a channel: a connector type or the name of an instance.
 * @throws ServiceError `bad_request` when none or several match, `unavailable` without the manager.
 */
async function findInstance({ settings }: Pick<ToolDeps, 'settings'>, channel: string): Promise<SendTarget> {
  const targets = (await readTargets(settings)).filter(({ enabled, outbound }) => enabled && outbound !== false);
  const fits = targets.filter((target) => target.channel === channel || target.name === channel);
  const [only] = fits;
  if (only !== undefined && fits.length === 1) return only;
  const listed = (fits.length > 1 ? fits : targets).map((target) => `${target.instance_id} (${target.channel}, ${target.name})`);
  const which = listed.length === 0 ? 'No instance can be sent through.' : `Name an "instance_id": ${listed.join('; ')}.`;
  throw badRequest(`${fits.length === 0 ? 'No instance' : 'More than one instance'} matches "${channel}". ${which}`);
}

async function readTarget({ settings }: Pick<ToolDeps, 'settings'>, instance: string): Promise<SendTarget | undefined> {
  return (await readTargets(settings)).find(({ instance_id }) => instance_id === instance);
}

/** Whether messages to a target run with a person's rights instead of only being shown. */
const steers = (target: SendTarget | undefined): boolean =>
  target !== undefined && target.outbound !== false && target.outbound.steers === true;

async function readTargets({ bindHost, managerPort, managerToken }: ToolDeps['settings']): Promise<SendTarget[]> {
  const away = (cause?: unknown) => unavailable('The manager, which knows the channels, is unavailable. Try again later.', cause);
  const { status, body } = await requestJson<{ targets: SendTarget[] }>(`http://${bindHost}:${managerPort}/send/targets`, {
    token: managerToken,
    timeoutMs,
  }).catch((error: unknown) => {
    throw away(error);
  });
  if (status !== 200) throw away();
  return body.targets;
}
