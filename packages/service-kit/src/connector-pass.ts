import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import { compositeKey } from './composite-key.ts';
import { readInstallationKey } from './installation-key.ts';
import { Secret } from './secret.ts';

/** The identity of a connector process: an instance of a type. Its channel has the name of the type. */
export type Peer = {
  type: string;
  instanceId: string;
  /** `every`: for an owner it may also read conversations of other channels, if its type declares so (`ConnectorPermissions`). */
  sessions?: 'every';
};

/**
 * Passes of connector processes. The manager issues one to each process that it starts, and the core checks it without asking
 * the manager: both read the same key, in a file of the data folder that no connector can open.
 */
export type ConnectorPasses = {
  issue(peer: Peer): Secret;
  /** The holder of a pass; null for one that was not issued here. */
  check(pass: string): Peer | null;
  /** A ticket with which only this instance can open a file that is sent through it. */
  ticketFor(instanceId: string, path: string): string;
  isTicket(ticket: string, instanceId: string, path: string): boolean;
};

/** Whether a conversation belongs to this instance. Its keys have a prefix that no other instance has. */
export const ownsKey = ({ type, instanceId }: Peer, key: string): boolean => key.startsWith(`${type}:${instanceId}:`);

const form = /^([\w-]{1,1000})\.([\w-]{43})$/;

/** @throws Error with a text for the operator when the key file is damaged. */
export function openConnectorPasses(file: string): ConnectorPasses {
  const key = Buffer.from(
    hkdfSync('sha256', readInstallationKey(file, 'connectors cannot authenticate.'), '', 'connector-pass', 32),
  );
  const sealOf = (text: string) => createHmac('sha256', key).update(text).digest('base64url');
  // A ticket is no pass: the signed text of a pass has no brackets or quotes.
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
