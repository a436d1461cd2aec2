import type { Terminal } from '@svc/contract/terminal.ts';
import { shortPath } from '@svc/service-kit/short-path.ts';
import { duration } from '@svc/service-kit/words.ts';
import { renderSessions } from '../insights/render-sessions.ts';
import { quoted, visibleLine, type Style } from '../terminal.ts';
import type { Found } from './find-terminal.ts';

/** The service's own terminals, then the programs that a person started. */
export function renderTerminals({ own, others }: Found, now: number, style: Style): string {
  const parts = own.map((terminal) => block(terminal, now, style));
  if (others === null) parts.push('The collector does not answer: programs that you started yourself are not listed.');
  else if (others.length > 0) parts.push(`Started by a person:\n${renderSessions(others, now, style)}`);
  return parts.length === 0 ? 'No program of an engine runs in a terminal. ./svc terminal start starts one.' : parts.join('\n');
}

const block = ({ id, conversation_key, engine_id, cwd, started_at }: Terminal, now: number, style: Style): string =>
  [
    `  ${style.bold(visibleLine(id))}`,
    `      ${visibleLine(conversation_key)}`,
    `      ${visibleLine(engine_id)}, ${visibleLine(shortPath(cwd))}, since ${duration(Math.max(0, now - started_at))}`,
  ].join('\n');

/** The message after a terminal was started. */
export const renderStarted = ({ id, conversation_key, engine_id, attach }: Terminal, isTakenOver: boolean): string =>
  [
    `${visibleLine(engine_id)} runs in ${visibleLine(id)}${isTakenOver ? `, on ${visibleLine(conversation_key)}` : ''}.`,
    ...(isTakenOver ? ['Messages of its channel are only noted until it ends.'] : []),
    `  see it   ./svc terminal attach ${visibleLine(id)}`,
    `           ${attach.map((word) => quoted(visibleLine(word))).join(' ')}`,
    `  end it   ./svc terminal end ${visibleLine(id)}`,
  ].join('\n');
