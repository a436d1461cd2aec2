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
  const words = text ?? Object.entries(payload).flatMap(renderFact).join(' ');
  return `${style.dim(time)} ${what} ${rest.map((fact) => line(fact, 60)).join(' ')}${words === '' ? '' : `  ${style.dim(line(words, 120))}`}`;
}

/** A fact of the payload as the log has it; what is not there is not shown. */
const renderFact = ([name, value]: [string, unknown]): string[] =>
  value === null || value === undefined ? [] : [`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`];
