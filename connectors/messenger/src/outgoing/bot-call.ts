import { ServiceError } from '@svc/connector-kit';
import { GrammyError, InputFile, type Api } from 'grammy';
import type { ChatMoves } from './chat-moves.ts';
import { toFault } from './to-fault.ts';

/** Sends one request to the Bot API. Rejects with the errors that the reply writer expects; follows a group that has moved. */
export type BotCall = <T>(method: string, params: Readonly<Record<string, unknown>>, signal?: AbortSignal) => Promise<T>;

type RawCall = (params: object, signal?: AbortSignal) => Promise<unknown>;

/** Timeout of an answer, ms; requests with files have none. */
const answerWithinMs = 20_000;
const takesLong = /^send(Photo|Document|MediaGroup)$/;
const isOver = (method: string, signal: AbortSignal | undefined): AbortSignal | undefined => {
  if (takesLong.test(method)) return signal;
  const limit = AbortSignal.timeout(answerWithinMs);
  return signal === undefined ? limit : AbortSignal.any([signal, limit]);
};

export function createBotCall(raw: Api['raw'], moves: ChatMoves): BotCall {
  const methods = raw as unknown as Readonly<Record<string, RawCall>>;

  const ask = async (method: string, params: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<unknown> => {
    const { chat_id: chat } = params;
    const isNamed = typeof chat === 'string' || typeof chat === 'number';
    try {
      return await methods[method]!({ ...params, ...(isNamed && { chat_id: moves.current(chat) }) }, isOver(method, signal));
    } catch (error) {
      const to = isNamed ? movedTo(error) : undefined;
      if (to === undefined || !isNamed || moves.current(chat) === to) throw toFault(error);
      await moves.moved(chat, to);
      // The stream of a file is used up, so its owner must provide it again.
      if (hasFile(params))
        throw new ServiceError('busy', 'The group has a new ID.', { details: { retry_after_s: 1, keeps_pace: true } });
      return ask(method, params, signal);
    }
  };
  return ask as BotCall;
}

const movedTo = (error: unknown): number | undefined =>
  error instanceof GrammyError ? error.parameters.migrate_to_chat_id : undefined;

function hasFile(value: unknown): boolean {
  if (value instanceof InputFile) return true;
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false;
  return Object.values(value).some(hasFile);
}
