import type { Clock } from '@svc/service-kit/clock.ts';
import { badRequest, type TelegramUpdate } from './api-types.ts';
import type { Updates } from './create-updates.ts';

type SetWebhook = {
  url: string;
  secret_token?: string;
  max_connections?: number;
  allowed_updates?: string[];
  drop_pending_updates?: boolean;
};

/** Delivers updates to the bot's server, one after the other, each until it is accepted. */
export type Webhook = {
  readonly isSet: boolean;
  /** An empty URL removes it. @throws ApiError */
  set(request: SetWebhook): true;
  info(): object;
  close(): void;
};

const answerMs = 10_000;
const longestWaitMs = 8000;

export function createWebhook(updates: Updates, clock: Clock, firstWaitMs: number): Webhook {
  let hook: SetWebhook | null = null;
  let lastError: { last_error_date: number; last_error_message: string } | null = null;
  let isBringing = false;
  let stopWaiting = () => {};

  async function bring(): Promise<void> {
    if (isBringing) return;
    isBringing = true;
    let waitMs = firstWaitMs;
    while (hook !== null && updates.pending[0] !== undefined) {
      const [next] = updates.pending;
      const fault = await post(hook, next);
      if (fault === null) updates.confirm(next.update_id);
      else {
        lastError = { last_error_date: Math.floor(clock.now() / 1000), last_error_message: fault };
        await new Promise<void>((resolve) => {
          const stop = clock.after(waitMs, resolve);
          stopWaiting = () => (stop(), resolve());
        });
      }
      waitMs = fault === null ? firstWaitMs : Math.min(waitMs * 2, longestWaitMs);
    }
    isBringing = false;
  }
  updates.onAdded = () => void bring();

  return {
    get isSet() {
      return hook !== null;
    },
    set(request) {
      if (request.url !== '' && !/^https:\/\/|^http:\/\/127\.0\.0\.1[:/]/.test(request.url))
        throw badRequest('bad webhook: An HTTPS URL must be provided for webhook');
      if (!/^[\w-]{0,256}$/.test(request.secret_token ?? '')) throw badRequest('secret token contains unallowed characters');
      hook = request.url === '' ? null : request;
      lastError = null;
      if (request.drop_pending_updates === true) updates.drop();
      updates.want(request.allowed_updates);
      stopWaiting();
      void bring();
      return true;
    },
    info: () => ({
      url: hook?.url ?? '',
      has_custom_certificate: false,
      pending_update_count: updates.pending.length,
      ...(hook !== null && { max_connections: hook.max_connections ?? 40 }),
      ...(updates.wanted.length > 0 && { allowed_updates: updates.wanted }),
      ...lastError,
    }),
    close() {
      hook = null;
      stopWaiting();
    },
  };
}

/** The error, as in `getWebhookInfo`; null when the update was accepted. */
async function post({ url, secret_token }: SetWebhook, update: TelegramUpdate): Promise<string | null> {
  const headers = {
    'content-type': 'application/json',
    ...(secret_token !== undefined && { 'x-telegram-bot-api-secret-token': secret_token }),
  };
  try {
    const signal = AbortSignal.timeout(answerMs);
    const { status, ok, body } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(update), signal });
    await body?.cancel();
    return ok ? null : `Wrong response from the webhook: ${status}`;
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'Read timeout expired' : 'Connection refused';
  }
}
