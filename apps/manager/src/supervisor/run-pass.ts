import { randomBytes } from 'node:crypto';
import { Secret } from '@svc/service-kit/secret.ts';

/** What the manager and one process of an instance know of each other. New for each process. */
export type RunPass = {
  /** Shown to the process with every request. */
  token: Secret;
  /** Shown by the process with every answer. It went over the parent's channel, so no other listener can know it. */
  proof: Secret;
  /** Shown by the process to the core. */
  link: Secret;
  run: string;
};

/** The way to the process of an instance: always loopback, the port it said itself, over the channel of its parent. */
export type Door = { url: string; token: Secret; proof: Secret };

export const createRunPass = (link = new Secret(randomText())): RunPass => ({
  link,
  token: new Secret(randomText()),
  proof: new Secret(randomText()),
  run: randomText(),
});

/** The door of a process that is ready; null when it said no port for messages. */
export function toDoor({ token, proof }: RunPass, ready: Record<string, unknown> | null): Door | null {
  const port = portIn(ready, 'outboundPort');
  return port === null ? null : { url: `http://127.0.0.1:${port}`, token, proof };
}

/** A port in a message of a process, or null for anything else. */
export function portIn(ready: Record<string, unknown> | null, name: 'port' | 'outboundPort'): number | null {
  const port = ready?.[name];
  return typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536 ? port : null;
}

const randomText = () => randomBytes(24).toString('base64url');
