import type { SearchAnswer, SearchedSession } from '@svc/contract/insights.ts';
import type { Style } from '../terminal.ts';
import { duration } from '../status/duration.ts';
import { line } from './words.ts';

export function renderSearch({ sessions, hits, capped, complete }: SearchAnswer, now: number, style: Style): string {
  const notes = [
    ...(capped ? [`There are more than ${hits} hits; these are of the newest.`] : []),
    ...(complete ? [] : ['The newest events are not searched yet. Try again in a moment.']),
  ].map((note) => style.yellow(note));
  if (sessions.length === 0) return ['Nothing was found.', ...notes].join('\n');
  return [...sessions.flatMap((session) => block(session, now, style)), ...notes].join('\n');
}

function block(session: SearchedSession, now: number, style: Style): string[] {
  const { conversation_key, principal, identity, hits, last_hit_at } = session;
  const facts = [
    line(principal ?? identity ?? 'somebody', 60),
    `${hits} hit${hits === 1 ? '' : 's'}`,
    `${duration(now - last_hit_at)} ago`,
  ];
  return [`  ${style.bold(line(conversation_key, 120))}`, `      ${facts.join(', ')}`, `      ${marked(session, style)}`];
}

/** The snippet with what was looked for in bold; each part is made harmless by itself. */
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

/** Blanks at the ends stay: the parts are put together again. */
const part = (text: string): string => text.replaceAll(/\S+/g, (word) => line(word, 400));
