import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createFileTickets } from '@svc/connector-kit/open-file.ts';
import { createOutboundRoutes } from '@svc/connector-kit/outbound/outbound-routes.ts';
import { Secret } from '@svc/service-kit/secret.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished, test } from 'vitest';
import { createDeliverer } from '../src/outbound/deliverer.ts';

/** The process of an instance, with the kit's own `/out`. */
async function connector() {
  const folder = temporaryFolder();
  const tickets = createFileTickets();
  const shown: unknown[] = [];
  const context = {
    outboundAccess: { token: 'the-token', proof: 'the-proof', onMount: () => undefined, onTicket: tickets.note },
    dataDir: folder.path,
    log: () => undefined,
    signal: new AbortController().signal,
  };
  const send = (message: unknown) => Promise.resolve(void shown.push(message));
  const out = createOutboundRoutes(context, { send }).find(({ path }) => path === '/out');
  const server = createServer((req, res) => void out?.handle({ req, res, requestId: 'r', isStopping: () => false } as never));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    folder.remove();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { tickets, shown, endpoint: { url, token: new Secret('the-token'), proof: new Secret('the-proof') } };
}

test('a sent file carries a ticket for its instance, which the kit hides from the connector; a text carries none', async () => {
  const { tickets, shown, endpoint } = await connector();
  const deliver = createDeliverer({
    supervisor: { endpointOf: () => endpoint, statusOf: () => ({}) as never, mask: (given) => given },
    knownSecrets: { redactor: () => ({ text: (given: string) => given }) as never },
    ticketFor: (instance, path) => `ticket of ${instance} for ${path}`,
    clock: systemClock,
    log: { info: () => undefined, warn: () => undefined },
  });
  expect(await deliver('a', { id: 'm1', target: 't', kind: 'document', path: '/u/x' })).toMatchObject({ ok: true });
  expect(await deliver('a', { id: 'm2', target: 't', kind: 'text', text: 'hi' })).toMatchObject({ ok: true });
  expect(tickets.find('/u/x')).toBe('ticket of a for /u/x');
  expect(shown).toMatchObject([{ path: '/u/x' }, { text: 'hi' }]);
  expect(JSON.stringify(shown)).not.toContain('ticket');
});
