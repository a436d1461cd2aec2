import { pause } from '@svc/testing/pause.ts';
import { answerTo } from '../channel-killed/engine-script.ts';

/** A request for an answer with a number of words, to a number of files. */
export type Question = { name: string; words: number; files: number };

/** A message of a person, and its expected answer. */
export type Asked<P> = {
  /** Its message ids: one, or one for each part of an album. */
  ids: (string | number)[];
  place: P;
  name: string;
  answer: string;
  at: number;
};

export type Asking<P> = {
  places: readonly P[];
  total: number;
  random: () => number;
  /** Sends it, and returns its message ids. */
  ask(place: P, question: Question): (string | number)[];
  isAnswered(asked: Asked<P>): boolean;
};

const maxOpen = 3;
/** A person without an answer asks on after this time; the missing answer is found in the end. */
const forgottenAfterMs = 30_000;

/** People who send a total number of messages; in each place, the next one when few are unanswered. */
export function startAsking<P>({ places, total, random, ask, isAnswered }: Asking<P>) {
  const asked: Asked<P>[] = [];
  let isOver = false;

  const talks = places.map(async (place, n) => {
    const share = Math.floor(total / places.length) + (n < total % places.length ? 1 : 0);
    const open: Asked<P>[] = [];
    for (let said = 0; said < share && !isOver;) {
      await pause(50 + random() * 300);
      const still = open.filter((one) => performance.now() - one.at < forgottenAfterMs && !isAnswered(one));
      open.splice(0, open.length, ...still);
      if (open.length >= maxOpen) continue;
      const question = next();
      const answer = answerTo(question.name, question.words, question.files);
      const one = { ids: ask(place, question), place, name: question.name, answer, at: performance.now() };
      asked.push(one);
      open.push(one);
      said++;
    }
  });

  function next(): Question {
    const luck = random();
    const files = luck < 0.06 ? 1 : luck < 0.1 ? 2 : 0;
    // Some answers need two messages.
    return { name: `m${asked.length + 1}`, words: luck > 0.97 ? 600 : Math.floor(random() * 40), files };
  }

  return {
    asked,
    /** Resolves when all messages are sent. */
    done: Promise.all(talks),
    stop() {
      isOver = true;
    },
  };
}
