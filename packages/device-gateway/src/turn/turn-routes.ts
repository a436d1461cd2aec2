import { badRequest, CoreError, ServiceError, type Exchange, type HandleResult, type Route } from '@svc/connector-kit';
import {
  answerSchema,
  placeSchema,
  turnSchema,
  type AnswerBody,
  type PlaceRequest,
  type TurnAccepted,
  type TurnRequest,
} from '@svc/contract/device-gateway.ts';
import { textOf } from '@svc/contract/turn.ts';
import { errorText } from '@svc/service-kit/service-error.ts';
import type { DeviceRecord } from '../device/device-record.ts';
import { askerOf, envelopeOf, ownKey, type Gateway } from '../gateway.ts';
import { reply } from '../http/reply.ts';
import type { Push } from '../push/open-push.ts';
import type { Capabilities } from '../rpc/capabilities.ts';
import { deviceToolsOf } from '../rpc/device-tools.ts';
import type { OwnWatches } from '../stream/own-watches.ts';
import type { OwnFiles } from '../upload/own-files.ts';
import { endFrames, failureFrames } from './end-frames.ts';
import type { Interrupts } from './interrupts.ts';
import type { WordsElsewhere } from './words-elsewhere.ts';

type TurnDeps = {
  watches: OwnWatches;
  files: OwnFiles;
  push: Pick<Push, 'begun' | 'ended'>;
  capabilities: Pick<Capabilities, 'of'>;
  elsewhere: WordsElsewhere;
  interrupts: Interrupts;
};

/** `POST /gw/turn`, `/gw/stop`, `/gw/answer`: a person's actions in a conversation. The results appear on the streams. */
export function createTurnRoutes(gateway: Gateway, deps: TurnDeps): Route[] {
  const { watches, files, push, capabilities, elsewhere, interrupts } = deps;
  const { ctx, readBody, authenticate } = gateway;

  async function turn(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    const said = await readBody<TurnRequest>(exchange, turnSchema);
    const own = ownKey(gateway, device);
    const { conversation_key: key = own, interrupt = false } = said;
    if (key === own && interrupt) await interrupts.before(device, said.message_id, () => end(device, own));
    const accepted = key === own ? await say(device, said, exchange) : await elsewhere.say(device, key, said);
    reply(exchange, accepted, 202);
  }

  const end = (device: DeviceRecord, key: string) => ctx.core.sessions.abort(askerOf(gateway, device), key).catch(nothingRuns);

  /** Resolves when the message is safe in the core, or was answered earlier. Its turn continues on its own. */
  function say(device: DeviceRecord, said: TurnRequest, { requestId }: Exchange): Promise<TurnAccepted> {
    const { text, message_id } = said;
    if (text.trim() === '' && (said.attachments ?? []).length === 0) throw badRequest('The message is empty.');
    const attachments = (said.attachments ?? []).map((path) => files.attachment(device.device_id, path));
    const envelope = {
      ...envelopeOf(gateway, device),
      message_id,
      ...deviceToolsOf(capabilities, device),
      content: { text, ...(attachments.length > 0 && { attachments }) },
    };
    const key = envelope.conversation_key;
    return new Promise((resolve, reject) => {
      let accepted: string | null = null;
      const accept = (turnId: string): void => {
        accepted ??= turnId;
        // Again at the end, because the conversation may not have existed before.
        watches.look(key, turnId);
        resolve({ ok: true, conversation_key: key, message_id, turn_id: turnId });
      };
      const onAccepted = (turnId: string): void => {
        push.begun(device.device_id, turnId);
        accept(turnId);
      };
      // Questions are shown on the streams.
      const handlers = { onAsk: () => undefined };
      ctx.core.handleStream(envelope, handlers, { requestId, onAccepted }).then(
        (result) => {
          if (isRefused(result)) return reject(refusalOf(result));
          accept(result.turn_id);
          watches.ended(key, result.turn_id, endFrames(key, result));
          push.ended(device.device_id, { outcome: result.outcome, text: textOf(result.actions) });
        },
        (error: unknown) => {
          ctx.log('debug', 'a message of a device was not answered', { device: device.device_id, error: errorText(error) });
          if (accepted !== null) watches.ended(key, accepted, failureFrames(key, accepted, error, requestId));
          reject(error);
        },
      );
    });
  }

  async function stop(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    const { conversation_key: key = ownKey(gateway, device) } = await readBody<PlaceRequest>(exchange, placeSchema);
    await ctx.core.sessions.abort(askerOf(gateway, device), key);
    reply(exchange, { ok: true });
  }

  async function answer(exchange: Exchange): Promise<void> {
    const device = authenticate(exchange);
    const {
      ask_id,
      option,
      text,
      conversation_key = ownKey(gateway, device),
    } = await readBody<AnswerBody>(exchange, answerSchema);
    const by = { as: askerOf(gateway, device), conversation_key };
    if (option !== undefined) reply(exchange, { ok: true, ...(await ctx.core.answer(ask_id, { ...by, option })) });
    else if (text !== undefined) reply(exchange, { ok: true, ...(await ctx.core.answer(ask_id, { ...by, text })) });
    else throw badRequest('An option or a text is required.');
  }

  return [
    { method: 'POST', path: '/gw/turn', doc: { summary: 'Says something', needsKey: true, body: turnSchema }, handle: turn },
    {
      method: 'POST',
      path: '/gw/stop',
      doc: { summary: 'Stops the running turn', needsKey: true, body: placeSchema },
      handle: stop,
    },
    {
      method: 'POST',
      path: '/gw/answer',
      doc: { summary: 'Answers a question', needsKey: true, body: answerSchema },
      handle: answer,
    },
  ];
}

/** Ignores the error of a missing turn. */
function nothingRuns(error: unknown): void {
  if (!(error instanceof CoreError && (error.code === 'not_found' || error.code === 'conflict'))) throw error;
}

const isRefused = ({ outcome }: HandleResult): boolean => outcome === 'denied';

function refusalOf({ actions }: HandleResult): ServiceError {
  const [action] = actions;
  return new ServiceError('no_access', action?.type === 'reply' ? action.text : 'no access');
}
