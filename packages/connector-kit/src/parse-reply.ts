import type { LinkReply } from '@svc/contract/link.ts';

/** Null for a line that is no reply. The core is ours, so only what a mix-up of versions could break is checked. */
export function parseReply(line: string): LinkReply | null {
  let reply: unknown;
  try {
    reply = JSON.parse(line);
  } catch {
    return null;
  }
  const known =
    typeof reply === 'object' &&
    reply !== null &&
    'id' in reply &&
    typeof reply.id === 'number' &&
    ('frame' in reply || 'result' in reply || 'identity' in reply || 'error' in reply);
  return known ? (reply as LinkReply) : null;
}
