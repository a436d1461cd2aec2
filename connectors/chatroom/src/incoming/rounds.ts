import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';

/** Rounds of several assistants in a room, which a person can end. */
export type Rounds = {
  /** A person asked the bots to stop: from now on their messages are only read. */
  end(channel: string): void;
  /** A person started a new round. */
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

/** A request to stop that is addressed to no bot in particular. */
export const isEnd = (text: string): boolean => /^\s*\/?(?:stop|halt|enough)[\s.!]*$/i.test(text);
