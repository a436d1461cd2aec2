import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { Style } from '../terminal.ts';
import { line } from './words.ts';

/** One event on one line: when, what, who, where, and the beginning of its text or payload. */
export function renderEvent(event: TelemetryEvent, style: Style): string {
  const { ts, kind, surface, session, identity, principal, text, payload } = event;
  const time = new Date(ts).toLocaleString('sv-SE');
  const who = principal ?? identity;
  const facts = [style.bold(line(kind, 64).padEnd(12)), surface, who, session].filter((fact) => fact !== null);
  const [what = '', ...rest] = facts;
  const words = text ?? (Object.keys(payload).length === 0 ? '' : JSON.stringify(payload));
  return `${style.dim(time)} ${what} ${rest.map((fact) => line(fact, 60)).join(' ')}${words === '' ? '' : `  ${style.dim(line(words, 120))}`}`;
}
