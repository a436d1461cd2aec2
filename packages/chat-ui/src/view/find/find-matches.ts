import type { Conversation } from '../../state/conversation.ts';
import type { Turn } from '../../state/turn.ts';

/** Where the words stand: in which turn, and how many of them come before in it. */
export type Match = { key: string; nth: number };

/** Every place of the words in what was said and answered, in the order of the conversation. Case does not matter; blanks at the ends do not count. */
export function findMatches(conversation: Pick<Conversation, 'keys' | 'turn'>, words: string): Match[] {
  const sought = words.trim().toLowerCase();
  if (sought === '') return [];
  return conversation.keys().flatMap((key) => {
    const turn = conversation.turn(key);
    const times = turn === undefined ? 0 : timesIn(turn, sought);
    return Array.from({ length: times }, (_, nth) => ({ key, nth }));
  });
}

type Texts = { said: string; written: string; shown: string };
/** A turn is never changed, so what was made of it holds. */
const textsOf = new WeakMap<Turn, Texts>();

/** In a reply, as it is written or as it is shown: who types `**` means the signs, who types two words does not care that one is bold. */
function timesIn(turn: Turn, sought: string): number {
  let texts = textsOf.get(turn);
  if (texts === undefined) {
    const written = turn.text.toLowerCase();
    texts = { said: (turn.said?.text ?? '').toLowerCase(), written, shown: withoutMarks(written) };
    textsOf.set(turn, texts);
  }
  return times(texts.said, sought) + Math.max(times(texts.written, sought), times(texts.shown, sought));
}

const withoutMarks = (text: string): string =>
  text.replaceAll(/\[([^\][\n]{1,200})\]\([^()\s]{0,500}\)/g, '$1').replaceAll(/\*+|`+|~~|(?<!\w)_+|_+(?!\w)/g, '');

function times(text: string, sought: string): number {
  let found = 0;
  for (let at = text.indexOf(sought); at !== -1; at = text.indexOf(sought, at + sought.length)) found += 1;
  return found;
}

/** The place of a match after the conversation has changed: the same one, or the one that is next to it in its turn; else the last. */
export function placeOf(matches: readonly Match[], before: Match | null): number {
  if (before === null) return matches.length - 1;
  const at = matches.findLastIndex(({ key, nth }) => key === before.key && nth <= before.nth);
  return at === -1 ? matches.length - 1 : at;
}
