import { cutText } from '@svc/service-kit/cut-text.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';

/** The collector sees no more of a session's state than that a turn runs in it. */
export type SessionState = 'running' | 'idle';

const snippetLength = 200;
const maxTitle = 200;
/** Kinds whose text is the engine's inner life and not what was said. */
const innerKinds: readonly string[] = ['thinking', 'tool', 'tool_result', 'engine'];

/** A sender who was turned away has no session, nor has a message that only waits. */
export const concernsSession = ({ kind, payload }: StoredEvent): boolean =>
  kind !== 'denied' && kind !== 'queued' && !(kind === 'turn' && payload['outcome'] === 'denied');

/** The title that a session has from now on, null for none; undefined where an event says nothing of it. */
export function titleIn({ kind, payload }: StoredEvent): string | null | undefined {
  if (kind !== 'session') return undefined;
  if (isForgotten({ kind, payload })) return null;
  if (payload['what'] !== 'titled') return undefined;
  const { title } = payload;
  return typeof title === 'string' && title !== '' ? cutText(title, maxTitle) : null;
}

/** What was said in its session is forgotten. */
export const isForgotten = ({ kind, payload }: Pick<StoredEvent, 'kind' | 'payload'>): boolean =>
  kind === 'session' && payload['what'] === 'forgotten';

/** Nothing has happened in a session that has another title. */
export const isTitled = ({ kind, payload }: StoredEvent): boolean => kind === 'session' && payload['what'] === 'titled';

/** A message that an engine answers; one that is only noted, or is a chat command, begins nothing. Short turns report no state at all. */
export const beginsTurn = ({ kind, payload }: StoredEvent): boolean =>
  kind === 'inbound' && payload['observed'] !== true && payload['command'] !== true;

/** What a `turn` event says about its session; null for every other event. */
export function turnState({ kind, payload }: StoredEvent): SessionState | null {
  if (kind !== 'turn') return null;
  return payload['what'] === 'started' ? 'running' : 'idle';
}

export const isCoreStart = ({ kind, payload }: StoredEvent): boolean =>
  kind === 'service' && payload['service'] === 'core' && payload['what'] === 'started';

/**
 * The beginning of what was said, without half a word at its end: half of what becomes known as a secret later would not be found.
 * Scripts that have no spaces are cut between two characters.
 */
export function snippetOf({ kind, text }: StoredEvent): string | null {
  if (text === null || text === '' || innerKinds.includes(kind)) return null;
  if (text.length <= snippetLength) return text;
  let end = snippetLength;
  while (end > 0 && isAsciiWord(text.charCodeAt(end - 1)) && isAsciiWord(text.charCodeAt(end))) end--;
  return text.slice(0, end).replace(/[\uD800-\uDBFF]$/, '');
}

const isAsciiWord = (unit: number): boolean => unit > 32 && unit < 127;
