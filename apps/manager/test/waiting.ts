import { readFileSync, existsSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import type { OutboundMessage } from '@svc/contract/send.ts';

/** Waits until `get` gives something `is` accepts, and gives it back. */
export async function eventually<T>(get: () => T | Promise<T>, is: (value: T) => boolean, limitMs = 40_000): Promise<T> {
  for (const end = Date.now() + limitMs; ;) {
    const value = await get();
    if (is(value)) return value;
    if (Date.now() > end)
      throw new Error(`the condition did not hold within ${limitMs / 1000} s; last seen: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** True when something listens on the port. */
export const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => (socket.destroy(), resolve(true)));
    socket.on('error', () => resolve(false));
  });

/** What an instance of the type `postbox` has put on its channel, in order. */
export function postedBy(dataDir: string, instanceId: string): OutboundMessage[] {
  const file = path.join(dataDir, 'instances', instanceId, 'posted.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as OutboundMessage);
}
