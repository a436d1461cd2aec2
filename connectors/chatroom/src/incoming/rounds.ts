import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** Rounds of several assistants in a room, as far as a person has ended them. */
export type Rounds = {
  /** A person said that it is enough: words of bots are only read from now on. */
  end(channel: string): void;
  /** A person gave the word again. */
  begin(channel: string): void;
  isOver(channel: string): boolean;
};

const maxRooms = 1000;

export function createRounds(): Rounds {
  const over = new Set<string>();
  return {
    end(channel) {
      over.delete(channel);
      over.add(channel);
      forgetOldest(over, maxRooms);
    },
    begin: (channel) => void over.delete(channel),
    isOver: (channel) => over.has(channel),
  };
}

/** A word that ends a round, said to nobody in particular. */
export const isEnd = (text: string): boolean => /^\s*\/?(?:stop|halt|enough)[\s.!]*$/i.test(text);
