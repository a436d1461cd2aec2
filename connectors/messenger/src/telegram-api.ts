import { cutText } from '@svc/service-kit/cut-text.ts';
import { Api } from 'grammy';
import { toPollFault } from './incoming/poll-fault.ts';

type Raw = Api['raw'];
type Method = keyof Raw;
/** Methods without parameters. */
const bare = ['getMe', 'getWebhookInfo'] as const;
type Bare = (typeof bare)[number];
type Params<M extends Method> = M extends Bare ? Record<string, never> : Parameters<Raw[M]>[0];
type Result<M extends Method> = Awaited<ReturnType<Raw[M]>>;

/** Timeout of any request but a poll, ms. */
const answerMs = 20_000;
/** Maximum length of a refusal, which is shown and logged. */
const longestDescription = 500;
/** Maximum size of an answer, bytes; a hundred updates need a hundredth of it. */
const longestAnswer = 16 * 1024 * 1024;

/** The Bot API with the token of one bot. Errors never contain the token, which is part of each address. */
export type TelegramApi = {
  /** grammY's own API: rejects with its errors. */
  raw: Raw;
  /** The address of a file. It contains the token, so use it only for a request. */
  fileAddress(filePath: string): URL;
  /** One request of the incoming side; its errors say what is wrong and what to do. */
  ask<M extends Method>(method: M, params: Params<M>, signal: AbortSignal, withinMs?: number): Promise<Result<M>>;
};

export function createTelegramApi(token: string, apiRoot: string): TelegramApi {
  const root = apiRoot.replace(/\/+$/, '');
  const { raw, config } = new Api(token, {
    apiRoot: root,
    baseFetchConfig: { size: longestAnswer, redirect: 'error', compress: true },
  });
  config.use(async (ask, method, params, signal) => tidyRefusal(await ask(method, params, signal), token));
  const methods = raw as unknown as Record<Method, (...args: unknown[]) => Promise<never>>;
  return {
    raw,
    fileAddress: (filePath) => new URL(`${root}/file/bot${token}/${filePath.split('/').map(encodeURIComponent).join('/')}`),
    async ask(method, params, signal, withinMs = answerMs) {
      const within = AbortSignal.any([signal, AbortSignal.timeout(withinMs)]);
      try {
        return await methods[method](...(isBare(method) ? [] : [params]), within);
      } catch (error) {
        signal.throwIfAborted();
        throw toPollFault(error);
      }
    },
  };
}

/** A private server or a proxy may repeat the address in its answer, or give no description. */
function tidyRefusal<T extends { ok: boolean }>(answer: T, token: string): T {
  if (answer.ok) return answer;
  const { description } = answer as { description?: unknown };
  const said = typeof description === 'string' ? description.replaceAll(token, '…') : 'no reason';
  return { ...answer, description: cutText(said, longestDescription) };
}

const isBare = (method: string): boolean => bare.some((each) => each === method);
