import { hash } from 'node:crypto';
import { forgetOldest } from '@svc/service-kit/forget-oldest.ts';
import type { Message } from 'grammy/types';
import type { ChatKeys } from './chat-keys.ts';

/**
 * Distinguishes edits of the author from other changes of a message, such as a reaction to it, which Telegram reports as edits too: with the date
 * of the last edit, or with none.
 */
export type MessageEdits = {
  /** A message was received. */
  saw(message: Message): void;
  /** The version that an edit makes, which grows with each edit; null when its author changed nothing. */
  versionOf(message: Message): number | null;
  /** The core gets this version. */
  note(message: Message, version: number): void;
  /** The core did not take the edit, which will be delivered again. */
  forget(message: Message): void;
};

type Known = { said: string; version: number };

/** Messages whose texts are remembered; for the others only the date decides. */
const maxKnown = 5000;

export function createMessageEdits({ ofMessage }: Pick<ChatKeys, 'ofMessage'>): MessageEdits {
  const known = new Map<string, Known>();

  const keep = (message: Message, version: number): void => {
    const name = ofMessage(message);
    known.delete(name);
    known.set(name, { said: saidIn(message), version });
    forgetOldest(known, maxKnown);
  };

  return {
    saw: (message) => keep(message, 0),
    versionOf(message) {
      const last = known.get(ofMessage(message));
      const editedAt = (message.edit_date ?? 0) * 1000;
      if (last === undefined) return editedAt === 0 ? null : editedAt;
      // Several edits within a second have the same date.
      return last.said === saidIn(message) ? null : Math.max(editedAt, last.version + 1);
    },
    note: keep,
    forget: (message) => void known.delete(ofMessage(message)),
  };
}

/** A digest: the texts of many messages would take much memory. */
const saidIn = ({ text, caption }: Message): string => hash('sha256', text ?? caption ?? '', 'base64url').slice(0, 16);
