import type { TelemetryEvent } from '@svc/contract/event.ts';
import type { OtelView, SearchAnswer, SearchedSession } from '@svc/contract/insights.ts';
import type { OtelSettings } from '@svc/service-kit/config/settings.ts';
import { visibleLine, type Style } from '../terminal.ts';
import { line } from './words.ts';
import { counted, duration } from '@svc/service-kit/words.ts';

/** One event on one line: time, type, person, place, and the beginning of its text or payload. */
export function renderEvent(event: TelemetryEvent, style: Style): string {
  const { ts, kind, surface, session, identity, principal, text, payload } = event;
  const time = new Date(ts).toLocaleString('sv-SE');
  const who = principal ?? identity;
  const facts = [style.bold(line(kind, 64).padEnd(12)), surface, who, session].filter((fact) => fact !== null);
  const [what = '', ...rest] = facts;
  const words = text ?? Object.entries(payload).flatMap(renderFact).join(' ');
  return `${style.dim(time)} ${what} ${rest.map((fact) => line(fact, 60)).join(' ')}${words === '' ? '' : `  ${style.dim(line(words, 120))}`}`;
}

/** A field of the payload in the form of the logs; a missing one is not shown. */
const renderFact = ([name, value]: [string, unknown]): string[] =>
  value === null || value === undefined ? [] : [`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`];

export function renderSearch({ sessions, hits, capped, complete }: SearchAnswer, now: number, style: Style): string {
  const notes = [
    ...(capped ? [`There are more than ${hits} hits; these are of the newest.`] : []),
    ...(complete ? [] : ['The newest events are not searched yet. Try again in a moment.']),
  ].map((note) => style.yellow(note));
  if (sessions.length === 0) return ['Nothing was found.', ...notes].join('\n');
  return [...sessions.flatMap((session) => block(session, now, style)), ...notes].join('\n');
}

function block(session: SearchedSession, now: number, style: Style): string[] {
  const { conversation_key, title, principal, identity, hits, last_hit_at } = session;
  const facts = [line(principal ?? identity ?? 'unknown sender', 60), counted(hits, 'hit'), `${duration(now - last_hit_at)} ago`];
  const key = line(conversation_key, 120);
  const name = title === null ? [`  ${style.bold(key)}`] : [`  ${style.bold(line(title, 70))}`, `      ${style.dim(key)}`];
  return [...name, `      ${facts.join(', ')}`, `      ${marked(session, style)}`];
}

/** The snippet with the matches in bold; each part is escaped separately. */
function marked({ snippet, highlights }: SearchedSession, style: Style): string {
  let end = 0;
  const parts: string[] = [];
  for (const [from, to] of highlights) {
    if (from < end) continue;
    parts.push(part(snippet.slice(end, from)), style.bold(part(snippet.slice(from, to))));
    end = to;
  }
  return [...parts, part(snippet.slice(end))].join('');
}

/** Keeps blanks at the ends, because the parts are joined again. */
const part = (text: string): string => text.replaceAll(/\S+/g, (word) => line(word, 400));

/** The state of the export, and what to do about it. */
export function renderOtel(
  { state, error, exported, failed, dropped, waiting }: OtelView,
  settings: OtelSettings,
  style: Style,
): string {
  if (state === 'off') {
    const isSet = settings.tracesUrl !== null || settings.metricsUrl !== null;
    return isSet
      ? 'OpenTelemetry is set up, but the service was started before that. Restart it: ./svc up'
      : 'OpenTelemetry is off. Set OTEL_EXPORTER_OTLP_ENDPOINT in .env and restart the service.';
  }
  if (state === 'installing') return 'The OpenTelemetry libraries are being installed.';
  const why = error === null ? [] : [`  ${style.yellow(visibleLine(error))}`];
  if (state === 'missing')
    return ['The OpenTelemetry libraries are missing. Install them: ./svc otel install', ...why].join('\n');
  return [
    `OpenTelemetry: traces ${settings.tracesUrl ?? 'no'}, metrics ${settings.metricsUrl ?? 'no'}`,
    `  ${exported} spans sent, ${waiting} wait, ${failed} refused, ${dropped} dropped`,
    ...why,
  ].join('\n');
}
