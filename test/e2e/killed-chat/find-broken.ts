import type { CoreRecord } from '../channel-killed/accounts.ts';
import { textOf } from '../channel-killed/people.ts';
import { saysGivenUp, type GivenUp } from './given-up.ts';
import type { Asked } from './start-asking.ts';

/** A message of the bot as people see it. */
export type Reply = { id: string | number; replyTo: string | number | undefined; text: string; before: string[] };

/** The visible state of a platform. */
export type Platform<P> = {
  /** The bot's messages in a place, in order. */
  replies(place: P): readonly Reply[];
  nameOf(place: P): string | number;
  /** Whether a duplicate is excused: it was unknown whether the first message had arrived. */
  isUnavoidable(place: P, reply: Reply): boolean;
  /** The last writes to a place, for finding the cause of a failure. */
  timeline?(place: P): string;
};

/** `givenUp`: messages during whose turn the core was killed twice; it says so, and lists them as failed. */
export type Found = { broken: string[]; unavoidable: number; givenUp: GivenUp[]; timeline: string };

/** The bot's answer to a message; later parts of an answer are recognized only by their text. */
const shownFor = <P>(replies: readonly Reply[], { ids, name }: Asked<P>): Reply[] =>
  replies.filter(({ replyTo, text }) => (replyTo === undefined ? /\bm\d+\b/.exec(text)?.[0] === name : ids.includes(replyTo)));

export const isAnswered = <P>({ replies }: Platform<P>, asked: Asked<P>): boolean =>
  textOf(shownFor(replies(asked.place), asked)).includes(asked.answer);

/** Every broken rule, and the number of excused duplicates. */
export function findBroken<P>(platform: Platform<P>, asked: readonly Asked<P>[], core: CoreRecord): Found {
  const found: Found = { broken: [], unavoidable: 0, givenUp: [], timeline: '' };
  for (const [place, own] of Map.groupBy(asked, (one) => one.place)) {
    findInPlace(platform, place, own, core, found);
    if (found.broken.length > 0 && found.timeline === '') found.timeline = platform.timeline?.(place) ?? '';
  }
  return found;
}

function findInPlace<P>(platform: Platform<P>, place: P, own: readonly Asked<P>[], core: CoreRecord, found: Found): void {
  const replies = platform.replies(place);
  const where = platform.nameOf(place);
  const first: { name: string; at: number }[] = [];
  const known = new Set<Reply>();
  const missing: Asked<P>[] = [];
  for (const one of own) {
    const shown = shownFor(replies, one);
    for (const each of shown) known.add(each);
    const parts = findAnswer(shown, one.answer);
    if (parts === null && core.failed.has(one.name)) {
      missing.push(one);
      for (const each of shown) if (saysGivenUp(each.text)) known.delete(each);
      continue;
    }
    if (parts === null) {
      found.broken.push(
        `not answered: ${JSON.stringify({ ...one, place: where, answer: short(one.answer), shown: shown.map(brief) })}`,
      );
      continue;
    }
    for (const surplus of shown.filter((each) => !parts.includes(each))) {
      if (platform.isUnavoidable(place, surplus)) found.unavoidable++;
      else
        found.broken.push(
          `doubled: ${JSON.stringify({ name: one.name, place: where, surplus: brief(surplus), parts: parts.map(brief) })}`,
        );
    }
    if (!core.pushed.has(one.name)) first.push({ name: one.name, at: replies.indexOf(parts[0] as Reply) });
  }
  first.forEach((one, n) => {
    const before = first[n - 1];
    if (before !== undefined && before.at > one.at)
      found.broken.push(`out of order in ${where}: ${before.name} came after ${one.name}`);
  });
  const left = replies.filter((each) => !known.has(each));
  const excused = new Set(left.filter(({ text }) => saysGivenUp(text)).slice(0, missing.length));
  found.givenUp.push(...missing.slice(0, excused.size));
  for (const { name } of missing.slice(excused.size)) found.broken.push(`failed without a word in ${where}: ${name}`);
  for (const reply of left.filter((each) => !excused.has(each)))
    found.broken.push(`left over in ${where}: ${JSON.stringify(brief(reply))}`);
}

/** The last consecutive messages that make up the answer; null when it is missing. */
function findAnswer(shown: readonly Reply[], answer: string): Reply[] | null {
  const build = (from: number, rest: string): Reply[] | null => {
    for (let n = from; n >= 0; n--) {
      const one = shown[n];
      const text = one === undefined ? '' : textOf([one]);
      if (one === undefined || text === '' || !rest.endsWith(text)) continue;
      const left = rest.slice(0, rest.length - text.length).trimEnd();
      const before = left === '' ? [] : build(n - 1, left);
      if (before !== null) return [...before, one];
    }
    return null;
  };
  return build(shown.length - 1, answer);
}

const brief = ({ id, text, replyTo, before }: Reply) => ({ id, replyTo, text: short(text), before: before.map(short) });
export const short = (text: string): string => (text.length < 60 ? text : `${text.slice(0, 40)}…${text.slice(-15)}`);
