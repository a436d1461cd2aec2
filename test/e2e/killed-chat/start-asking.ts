import { pause } from '@svc/testing/pause.ts';
import { answerTo } from '../channel-killed/engine-script.ts';

/** What is asked for: an answer of so many words, to so many files. */
export type Question = { name: string; words: number; files: number };

/** What a person asked, and what is to be answered to it. */
export type Asked<P> = {
  /** Of its messages: one, or one of each part of an album. */
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
  /** Says it, and gives the ids of its messages. */
  ask(place: P, question: Question): (string | number)[];
  isAnswered(asked: Asked<P>): boolean;
};

const maxOpen = 3;
/** Who has no answer for so long asks on; what is missing is found in the end. */
const forgottenAfterMs = 30_000;

/** People who say so many messages in all, in each place the next ones when few are without their answer. */
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
    // Now and then an answer needs two messages.
    return { name: `m${asked.length + 1}`, words: luck > 0.97 ? 600 : Math.floor(random() * 40), files };
  }

  return {
    asked,
    /** Resolves when all is said. */
    done: Promise.all(talks),
    stop() {
      isOver = true;
    },
  };
}
