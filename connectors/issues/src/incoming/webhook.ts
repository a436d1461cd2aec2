import { createHmac, timingSafeEqual } from 'node:crypto';
import { createConnectorServer, type ConnectorServer } from '@svc/connector-kit/http/create-server.ts';
import { sendJson, type Exchange } from '@svc/connector-kit/http/exchange.ts';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { ByteBudget, type ByteLease } from '@svc/service-kit/intake/byte-budget.ts';
import { ServiceError, unavailable } from '@svc/service-kit/service-error.ts';

type Options = Pick<StartContext, 'log' | 'version' | 'allowedHosts'> & {
  port: number;
  secret: string;
  /** Something may have changed in a repository; by its full name. */
  ring(repository: string): void;
};

/** GitHub sends no more. */
const maxBytes = 25 * 1024 * 1024;
/** Maximum of all bodies being read together: the sender of a body is unknown until it has arrived completely. */
const totalBytes = 2 * maxBytes;
const host = '127.0.0.1';

/**
 * Receives GitHub's notifications on loopback, behind a proxy. A notification only triggers the next poll: its content is not
 * used, so nothing is answered twice, and nothing is missed when one does not arrive.
 */
export async function openWebhook({ port, secret, ring, ...server }: Options): Promise<ConnectorServer> {
  const budget = new ByteBudget(totalBytes);
  const opened = createConnectorServer({
    routes: [
      {
        method: 'POST',
        path: '/webhook',
        doc: { summary: 'Receives a notification from GitHub', needsKey: true },
        streamsBody: { maxBytes },
        async handle(exchange) {
          const lease = budget.lease();
          try {
            const body = await readBody(exchange, lease);
            if (!isSigned(body, secret, exchange.req.headers['x-hub-signature-256']))
              throw new ServiceError('unauthorized', 'Only GitHub may call this route: the signature is missing or wrong.');
            const repository = repositoryIn(body.toString('utf8'), exchange.req.headers['content-type']);
            if (repository !== null) ring(repository);
            sendJson(exchange, { status: 202, body: '{"ok":true}' });
          } finally {
            lease.release();
          }
        },
      },
    ],
    ...server,
  });
  await opened.listen(port, host);
  return opened;
}

/** GitHub sends a form unless its settings say JSON. */
function repositoryIn(body: string, type = ''): string | null {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(type);
  const event = parseJsonOrNull(isForm ? (new URLSearchParams(body).get('payload') ?? '') : body);
  const name = isRecord(event) && isRecord(event['repository']) ? event['repository']['full_name'] : undefined;
  return typeof name === 'string' ? name : null;
}

async function readBody({ body }: Exchange, lease: ByteLease): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of body) {
    if (!lease.take(part.length)) throw unavailable('Too many large requests at once. Polling finds the changes anyway.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** Signed over the bytes as they came. */
function isSigned(body: Buffer, secret: string, header: unknown): boolean {
  const given = Buffer.from(typeof header === 'string' ? header : '');
  const wanted = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
