import type { BoundedCall } from './bounded-call.ts';
import type { Paced, ReplyPlatform } from './reply-platform.ts';

/** `answers`: the id of the message that the reply answers. `text`: what would be posted. */
export type Search = { answers?: string | undefined; text?: string; paced: Paced };

/** A part of a reply that may be on the platform. `before`: the id of a message that was there before it. */
export type LostPart = { index: number; nonce: string; before: string | null | undefined };

export type FindMessage = (part: LostPart, search: Search) => Promise<string | null>;

/** Searches for a part with the platform's own search and what is known of the part. Null where there is no such message, or no search. */
export const createFindMessage =
  ({ find }: ReplyPlatform, call: BoundedCall): FindMessage =>
  async ({ index, nonce, before }, { answers, ...search }) => {
    if (find === undefined) return null;
    const known = {
      ...(typeof before === 'string' && { after: before }),
      ...(index === 0 && answers !== undefined && { answers }),
    };
    return call((place) => find({ ...place, nonce, ...known, ...search }));
  };
