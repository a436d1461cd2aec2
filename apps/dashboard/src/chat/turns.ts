import { createParser } from 'eventsource-parser';
import type { Envelope } from '@svc/contract/envelope.ts';
import type { ErrorBody } from '@svc/contract/error-body.ts';
import type { IncomingMessage } from '@svc/service-kit/builtin.ts';
import { openRequest, requestJson } from '@svc/service-kit/http/json-client.ts';
import { readBody } from '@svc/service-kit/http/read-body.ts';
import type { Log } from '@svc/service-kit/log.ts';
import { errorText, queueFull, ServiceError, unavailable, upstream } from '@svc/service-kit/service-error.ts';
import type { Backends } from '../proxy/backends.ts';

/** The channel of the dashboard. Its login has authenticated the sender. */
const channel = 'web';
/** The most turns of this process at a time. */
const maxOpen = 64;
const longestTurnMs = 24 * 60 * 60_000;
const answerMs = 30_000;
const maxErrorBytes = 64 * 1024;

const prefixOf = (user: string): string => `${channel}:${encodeURIComponent(user)}:`;
/** Whether a conversation is this person's, on the web. */
export const isWebKey = (user: string, key: string): boolean =>
  key.startsWith(prefixOf(user)) && /^[\w:%.!~*'()-]{1,512}$/.test(key);

type Message = {
  message_id: string;
  conversation_key: string;
  text: string;
  attachments: { path: string; name?: string; mime?: string }[];
};

export type Turns = {
  /** Resolves with the turn's id when the message is safe in the core. Its turn does not depend on this call. @throws ServiceError with the refusal of the core */
  say(user: string, message: Message, requestId: string): Promise<string>;
  answer(user: string, answer: { ask_id: string; option: string; conversation_key: string }): Promise<unknown>;
};

/** Sends messages to the core, and keeps each request open until it is answered: the core then knows that a person was there for the reply. */
export function createTurns({ backends, log }: { backends: Backends; log: Pick<Log, 'debug'> }): Turns {
  const core = backends.urls.core;
  let open = 0;

  async function say(user: string, message: Message, requestId: string): Promise<string> {
    if (open >= maxOpen) throw queueFull(`Too many messages are being answered (${open}). Try again in a moment.`);
    open++;
    let isOpen = true;
    const release = () => {
      if (isOpen) open--;
      isOpen = false;
    };
    try {
      const response = await openRequest(`${core}/v2/handle?accepted=true&asks=true`, {
        body: envelopeOf(user, message),
        headers: { accept: 'text/event-stream', 'x-request-id': requestId, ...backends.headersFor('core', user, '/v2/handle') },
        timeoutMs: longestTurnMs,
      }).catch((error: unknown) => {
        throw unavailable('The core does not answer. Your message is kept and will be sent again.', error);
      });
      if (response.statusCode !== 200) throw await refusalOf(response);
      return await accepted(response, release, (error) =>
        log.debug({ error: errorText(error) }, 'the stream of a turn broke off'),
      );
    } catch (error) {
      release();
      throw error;
    }
  }

  return {
    say,
    async answer(user, { ask_id, option, conversation_key }) {
      const { status, body } = await requestJson<ErrorBody>(`${core}/v2/asks/${encodeURIComponent(ask_id)}/answer`, {
        body: { as: { channel, sender: { raw_id: user } }, conversation_key, option },
        headers: backends.headersFor('core', user, '/v2/asks'),
        timeoutMs: answerMs,
      });
      if (status >= 400) throw new ServiceError(body.error, body.message, { status });
      return body;
    },
  };
}

const envelopeOf = (user: string, { message_id, conversation_key, text, attachments }: Message): Envelope => ({
  channel,
  conversation_key,
  message_id,
  sender: { raw_id: user },
  content: { text, ...(attachments.length > 0 && { attachments }) },
  capabilities: { supports_markdown: true, supports_code_blocks: true },
  // The page reads the history, which has the reply: nothing has to be pushed.
  keeps: true,
});

async function refusalOf(response: IncomingMessage): Promise<ServiceError> {
  const text = (await readBody(response, maxErrorBytes)).toString('utf8');
  try {
    const { error, message } = JSON.parse(text) as ErrorBody;
    return new ServiceError(error, message, { status: response.statusCode ?? 502 });
  } catch (error) {
    return upstream('The core refused the message without a reason. ./svc logs core shows more.', error);
  }
}

type Frame = { turn_id?: string; result?: { turn_id: string; outcome: string; actions: { text?: string }[] }; error?: ErrorBody };

/** Reads the stream to its end. Resolves with the turn's id once the message is stored. `onEnd` is called once, at the end of the stream. */
function accepted(response: IncomingMessage, onEnd: () => void, onBreak: (error: unknown) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    const take = (type: string | undefined, frame: Frame) => {
      if (type === 'accepted' && frame.turn_id !== undefined) resolve(frame.turn_id);
      if (type === 'error' && frame.error !== undefined) reject(new ServiceError(frame.error.error, frame.error.message));
      if (type !== 'result' || frame.result === undefined) return;
      const { outcome, turn_id, actions } = frame.result;
      if (outcome === 'denied') reject(new ServiceError('no_access', actions[0]?.text ?? 'You may not write here.'));
      else resolve(turn_id);
    };
    const parser = createParser({ onEvent: ({ event, data }) => take(event, JSON.parse(data) as Frame) });
    response.setEncoding('utf8').on('data', (text: string) => parser.feed(text));
    response.once(
      'error',
      (error) => (
        onBreak(error),
        reject(unavailable('The core stopped before it had the message. It will be sent again.', error))
      ),
    );
    response.once('close', () => {
      reject(unavailable('The core stopped before it had the message. It will be sent again.'));
      onEnd();
    });
  });
}
