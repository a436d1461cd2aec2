import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { OutboundMessage } from '@svc/contract/send.ts';

/** What an instance of the type `postbox` has put on its channel, in order. */
export function postedBy(dataDir: string, instanceId: string): OutboundMessage[] {
  const file = path.join(dataDir, 'instances', instanceId, 'posted.jsonl');
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as OutboundMessage);
}
