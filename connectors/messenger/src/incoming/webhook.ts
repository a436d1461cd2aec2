import { randomBytes } from 'node:crypto';
import { createConnectorServer } from '@svc/connector-kit/http/create-server.ts';
import { sendJson } from '@svc/connector-kit/http/exchange.ts';
import { createJsonReader } from '@svc/connector-kit/http/read-json.ts';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { pause } from '@svc/connector-kit/retry.ts';
import { systemClock, type Clock } from '@svc/service-kit/clock.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { errorText, ServiceError } from '@svc/service-kit/service-error.ts';
import type { TelegramApi } from '../telegram-api.ts';
import { allowedUpdates } from './read-update.ts';

type Options = Pick<StartContext, 'signal' | 'log' | 'version' | 'allowedHosts'> & {
  api: Pick<TelegramApi, 'ask'>;
  url: string;
  port: number;
  take(update: unknown): Promise<void>;
  onProblem(problem: string | null): void;
  clock?: Clock;
};

export type Webhook = { stop(withinMs: number): Promise<void> };

const mb = 1024 * 1024;
/** Limits of request bodies; an update has a few KB. */
const bodies = { bodyBytes: mb, totalBytes: 16 * mb };
const host = '127.0.0.1';
/** Each chat uses at most one. */
const maxConnections = 40;
/** Interval of checks that updates arrive, and of retries of setting the webhook, ms. */
const lookEveryMs = 60_000;
const againMs = 10_000;
/** How long a failure reported by Telegram counts, s. */
const recentS = 180;

/** Receives updates that Telegram pushes, on loopback behind a proxy with a certificate. Rejects when the port cannot be used. */
export async function openWebhook(options: Options): Promise<Webhook> {
  const { url, port, take, log, version, allowedHosts } = options;
  const { pathname, hostname } = new URL(url);
  const secret = new Secret(randomBytes(32).toString('base64url'));
  const readJson = createJsonReader(bodies);
  const server = createConnectorServer({
    routes: [
      {
        method: 'POST',
        path: pathname,
        doc: { summary: 'Receives an update from Telegram', needsKey: true },
        async handle(exchange) {
          const given = exchange.req.headers['x-telegram-bot-api-secret-token'];
          if (typeof given !== 'string' || !secret.equals(given))
            throw new ServiceError(
              'unauthorized',
              'Only Telegram may call this route: the secret token of the webhook is missing or wrong.',
            );
          await take(await readJson(exchange.req));
          sendJson(exchange, { status: 200, body: '{}' });
        },
      },
    ],
    version,
    allowedHosts: [hostname, ...allowedHosts],
    log,
  });
  await server.listen(port, host);
  void keepSet(options, secret);
  return { stop: (withinMs) => server.stop(withinMs) };
}

/** Sets the webhook, and makes sure that it stays set. Never rejects. */
async function keepSet({ api, url, signal, log, onProblem, clock = systemClock }: Options, secret: Secret): Promise<void> {
  const set = () =>
    api.ask(
      'setWebhook',
      { url, secret_token: secret.reveal(), allowed_updates: allowedUpdates, max_connections: maxConnections },
      signal,
    );
  /** Another program may have set its own webhook, or may poll. */
  async function look(): Promise<string | null> {
    const { url: now, last_error_date = 0, last_error_message } = await api.ask('getWebhookInfo', {}, signal);
    if (now !== url) {
      await set();
      return 'Another program had taken over the webhook of this bot. It was set again. Stop that program.';
    }
    const isRecent = clock.now() / 1000 - last_error_date < recentS;
    return isRecent ? `Telegram cannot deliver its updates to webhook_url: ${last_error_message}` : null;
  }
  for (let isSet = false; !signal.aborted;) {
    try {
      if (isSet) onProblem(await look());
      else {
        await set();
        onProblem(null);
      }
      isSet = true;
    } catch (error) {
      if (signal.aborted) return;
      log('warn', 'the webhook cannot be set or checked at the moment', { error: errorText(error) });
      onProblem(errorText(error));
    }
    await pause(clock, isSet ? lookEveryMs : againMs, signal);
  }
}
