import { isRecord, parseJsonOrNull } from '@svc/contract/json-value.ts';
import type { LinkReply } from '@svc/contract/link.ts';

/** Null for a line that is no reply. The core is ours, so only what a mix-up of versions could break is checked. */
export function parseReply(line: string): LinkReply | null {
  const reply = parseJsonOrNull(line);
  if (!isRecord(reply) || typeof reply['id'] !== 'number') return null;
  const isReply = 'frame' in reply || 'result' in reply || 'identity' in reply || 'error' in reply;
  return isReply ? (reply as LinkReply) : null;
}
