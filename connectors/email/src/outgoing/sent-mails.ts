import type { ConnectorState } from '@svc/connector-kit';

/** What is known about one of our mails: the server has it, or it may have it. `at`: since when, epoch ms. */
export type SentMail = { isSure: boolean; at: number };

export type SentMails = {
  find(nonce: string): Promise<SentMail | null>;
  /** Resolves when it is on disk. */
  note(nonce: string, isSure: boolean): Promise<void>;
};

const prefix = 'sent/';
/** A reply is not requested again after this time, ms. */
const keptMs = 14 * 24 * 60 * 60_000;
const most = 20_000;

export async function openSentMails(state: ConnectorState, now: () => number): Promise<SentMails> {
  const kept = (await state.list(prefix)).map(({ key, value }) => ({ key, at: (value as SentMail).at }));
  const sorted = kept.toSorted((one, other) => other.at - one.at);
  const old = sorted.filter(({ at }, index) => index >= most || at < now() - keptMs);
  if (old.length > 0) await state.change(Object.fromEntries(old.map(({ key }) => [key, undefined])));
  return {
    find: async (nonce) => (await state.get<SentMail>(prefix + nonce)) ?? null,
    note: (nonce, isSure) => state.set(prefix + nonce, { isSure, at: now() }),
  };
}
