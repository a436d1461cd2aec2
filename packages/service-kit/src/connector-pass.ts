import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { compositeKey } from './composite-key.ts';
import { readInstallationKey } from './installation-key.ts';
import { Secret } from './secret.ts';

/** What a connector process is: an instance of a type. Its channel has the name of the type. */
export type Peer = {
  type: string;
  instanceId: string;
  /** `every`: for an owner it may also ask for conversations of other channels. Its type says so (`ConnectorPermissions`). */
  sessions?: 'every';
};

/**
 * Passes of connector processes. The manager issues one to each process that it starts, the core checks it, and neither has to
 * ask the other: both read one key, in a file of the data folder that no connector can open.
 */
export type ConnectorPasses = {
  issue(peer: Peer): Secret;
  /** Whose pass it is; null for one that was not issued here. */
  check(pass: string): Peer | null;
  /** Lets an instance, and no other, open a file that is sent through it. */
  ticketFor(instanceId: string, path: string): string;
  isTicket(ticket: string, instanceId: string, path: string): boolean;
};

/** Whether a conversation is of this instance. Another's key never begins as one of its own does. */
export const ownsKey = ({ type, instanceId }: Peer, key: string): boolean => key.startsWith(`${type}:${instanceId}:`);

const form = /^([\w-]{1,1000})\.([\w-]{43})$/;

/** @throws Error when the file of the key holds something else, with a text for the operator. */
export function openConnectorPasses(file: string): ConnectorPasses {
  const key = Buffer.from(
    hkdfSync('sha256', readInstallationKey(file, 'connectors cannot be let in.'), '', 'connector-pass', 32),
  );
  const sealOf = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  // No pass has this form: what is sealed there has neither brackets nor quotes.
  const ticketFor = (instanceId: string, path: string) => sealOf(compositeKey('file', instanceId, path));
  return {
    ticketFor,
    isTicket: (ticket, instanceId, path) => new Secret(ticketFor(instanceId, path)).equals(ticket),
    issue({ type, instanceId, sessions }) {
      const text = Buffer.from(JSON.stringify({ type, instanceId, sessions, run: randomBytes(8).toString('hex') })).toString(
        'base64url',
      );
      return new Secret(`${text}.${sealOf(text)}`);
    },
    check(pass) {
      const [, text, seal] = form.exec(pass) ?? [];
      if (text === undefined || seal === undefined || !new Secret(sealOf(text)).equals(seal)) return null;
      const peer = parseJsonOrNull(Buffer.from(text, 'base64url').toString());
      const { type, instanceId, sessions } = isRecord(peer) ? peer : {};
      if (typeof type !== 'string' || typeof instanceId !== 'string') return null;
      return sessions === 'every' ? { type, instanceId, sessions } : { type, instanceId };
    },
  };
}
