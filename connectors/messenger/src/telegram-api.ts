import { Api } from 'grammy';
import { toPollFault } from './incoming/poll-fault.ts';

type Raw = Api['raw'];
type Method = keyof Raw;
type Params<M extends Method> = M extends 'getMe' ? Record<string, never> : Parameters<Raw[M]>[0];
type Result<M extends Method> = Awaited<ReturnType<Raw[M]>>;

/** Longest wait for an answer other than that of a poll, ms. */
const answerMs = 20_000;
/** Bytes of an answer; a hundred updates have a hundredth of it. */
const longestAnswer = 16 * 1024 * 1024;

/** The Bot API with the token of one bot. What it throws never names the token, which stands in each address. */
export type TelegramApi = {
  /** grammY's own: rejects with its errors. */
  raw: Raw;
  /** One call for what comes in; its faults say what is wrong and what to do. */
  ask<M extends Method>(method: M, params: Params<M>, signal: AbortSignal, withinMs?: number): Promise<Result<M>>;
};

export function createTelegramApi(token: string, apiRoot: string): TelegramApi {
  const { raw } = new Api(token, {
    apiRoot: apiRoot.replace(/\/+$/, ''),
    baseFetchConfig: { size: longestAnswer, redirect: 'error', compress: true },
  });
  const methods = raw as unknown as Record<Method, (...args: unknown[]) => Promise<never>>;
  return {
    raw,
    async ask(method, params, signal, withinMs = answerMs) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
      try {
        // A method that has no parameters takes the signal alone.
        return await (method === 'getMe' ? methods.getMe(within) : methods[method](params, within));
      } catch (error) {
        signal.throwIfAborted();
        throw toPollFault(error);
      }
    },
  };
}
