import { cutText } from '@svc/service-kit/cut-text.ts';
import type { StoredEvent } from '../ingest/parse-event.ts';

/** Of a session's state the collector knows only whether a turn is running. */
export type SessionState = 'running' | 'idle';

const snippetLength = 200;
const maxTitle = 200;
/** Kinds whose text is internal to the engine and not part of the conversation. */
const innerKinds: readonly string[] = ['thinking', 'tool', 'tool_result', 'engine'];

/** A denied sender has no session, nor has a message that is only queued. */
export const concernsSession = ({ kind, payload }: StoredEvent): boolean =>
  kind !== 'denied' && kind !== 'queued' && !(kind === 'turn' && payload['outcome'] === 'denied');

/** The new title of a session, null for none; undefined if the event does not change it. */
export function titleIn({ kind, payload }: StoredEvent): string | null | undefined {
  if (kind !== 'session') return undefined;
  if (isForgotten({ kind, payload })) return null;
  if (payload['what'] !== 'titled') return undefined;
  const { title } = payload;
  return typeof title === 'string' && title !== '' ? cutText(title, maxTitle) : null;
}

/** The conversation of the session was deleted. */
export const isForgotten = ({ kind, payload }: Pick<StoredEvent, 'kind' | 'payload'>): boolean =>
  kind === 'session' && payload['what'] === 'forgotten';

/** A new title is no activity in a session. */
export const isTitled = ({ kind, payload }: StoredEvent): boolean => kind === 'session' && payload['what'] === 'titled';

/** A message that an engine answers; an observed message or a chat command starts no turn. Turns are counted by it, as short ones report no state. */
export const beginsTurn = ({ kind, payload }: StoredEvent): boolean =>
  kind === 'inbound' && payload['observed'] !== true && payload['command'] !== true;

/** The state of the session after a `turn` event; null for every other event. */
export function turnState({ kind, payload }: StoredEvent): SessionState | null {
  if (kind !== 'turn') return null;
  return payload['what'] === 'started' ? 'running' : 'idle';
}

export const isCoreStart = ({ kind, payload }: StoredEvent): boolean =>
  kind === 'service' && payload['service'] === 'core' && payload['what'] === 'started';

/**
 * The beginning of a text, not cut within a word: a part of a word that later becomes known as a secret could not be masked.
 * Scripts without spaces are cut between two characters.
 */
export function snippetOf({ kind, text }: StoredEvent): string | null {
  if (text === null || text === '' || innerKinds.includes(kind)) return null;
  if (text.length <= snippetLength) return text;
  let end = snippetLength;
  while (end > 0 && isAsciiWord(text.charCodeAt(end - 1)) && isAsciiWord(text.charCodeAt(end))) end--;
  return text.slice(0, end).replace(/[\uD800-\uDBFF]$/, '');
}

const isAsciiWord = (unit: number): boolean => unit > 32 && unit < 127;
