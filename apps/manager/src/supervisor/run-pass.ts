import { randomBytes } from 'node:crypto';
import { Secret } from '@svc/service-kit/secret.ts';

/** The credentials that the manager and one process of an instance share. New for each process. */
export type RunPass = {
  /** Sent to the process with every request. */
  token: Secret;
  /** Sent by the process with every response. Only the process knows it: it was passed over the channel to its parent. */
  proof: Secret;
  /** Sent by the process to the core. */
  link: Secret;
  run: string;
};

/** How to reach the process of an instance: always on loopback, at the port that it reported over the channel to its parent. */
export type Endpoint = { url: string; token: Secret; proof: Secret };

export const createRunPass = (link = new Secret(randomText())): RunPass => ({
  link,
  token: new Secret(randomText()),
  proof: new Secret(randomText()),
  run: randomText(),
});

/** The endpoint of a process that is ready; null if it reported no port for messages. */
export function toEndpoint({ token, proof }: RunPass, ready: Record<string, unknown> | null): Endpoint | null {
  const port = portIn(ready, 'outboundPort');
  return port === null ? null : { url: `http://127.0.0.1:${port}`, token, proof };
}

/** A port in a message of a process, or null for anything else. */
export function portIn(ready: Record<string, unknown> | null, name: 'port' | 'outboundPort'): number | null {
  const port = ready?.[name];
  return typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536 ? port : null;
}

const randomText = () => randomBytes(24).toString('base64url');
