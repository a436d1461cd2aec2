import type { LoginSession } from '@svc/contract/auth.ts';
import { duration } from '@svc/service-kit/words.ts';
import { type Style, visibleLine } from '../terminal.ts';

/** `now` is epoch ms. */
export function renderSessions(sessions: readonly LoginSession[], now: number, style: Style): string {
  if (sessions.length === 0) return 'Nobody is signed in.';
  return sessions
    .map(({ id, device, method, seen_at: seenAt, expires_at: expiresAt }) => {
      const times = `seen ${duration(Math.max(0, now - seenAt))} ago, ends in ${duration(Math.max(0, expiresAt - now))}`;
      return `${visibleLine(id)}  by ${method}, ${times}\n    ${style.dim(visibleLine(device))}`;
    })
    .join('\n');
}
