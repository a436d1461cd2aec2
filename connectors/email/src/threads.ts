import { hash } from 'node:crypto';
import { emailKey, ServiceError, type ConnectorState } from '@svc/connector-kit';
import { isWithin } from '@svc/service-kit/clock.ts';
import { mailAddress } from './incoming/mail-address.ts';
import { isAnswer, plainSubject, type ThreadIds } from './incoming/thread-ids.ts';
import { meta } from './meta.ts';

/** A mail of a thread. `name`: its id in the core; empty for one of ours. `id`: its Message-ID, if it has one. */
export type ThreadMail = { name: string; id: string | null };
/** A conversation with one person. `mails`: the newest; `times`: when those arrived that came within an hour of the last one, epoch ms. */
export type Thread = {
  sender: string;
  subject: string;
  root: string;
  mails: readonly ThreadMail[];
  times: readonly number[];
  at: number;
};
export type NamedThread = Thread & { target: string; conversationKey: string };
/** `arrivedAt`: epoch ms, by the mail server. */
export type NewMail = { sender: string; name: string; subject: string; ids: ThreadIds; arrivedAt: number };

export type Threads = {
  /** Finds the thread of a mail and adds the mail to it; null when the thread's budget is used up. */
  place(mail: NewMail): Promise<NamedThread | null>;
  /** @throws ServiceError `unprocessable` for a target that is neither a thread nor an address */
  ofTarget(target: string): NamedThread;
  /** One of our mails was sent to the thread. */
  noteOwn(target: string, id: string, subject: string): Promise<void>;
};

type Deps = { state: ConnectorState; instanceId: string; now(): number; budget: number };

const prefix = 'thread/';
const mostThreads = 5000;
const mostMails = 20;
const longestId = 250;
const hourMs = 60 * 60_000;
/** How long a mail that references no other may join a thread with the same subject, ms. */
const subjectMs = 30 * 24 * hourMs;

/**
 * Threads per sender: someone who writes into another sender's thread gets their own, whatever ids their mail references. They are kept
 * across restarts, and the least recently active are forgotten; a mail that references the first one of a forgotten thread still returns to
 * the same conversation.
 */
export async function openThreads({ state, instanceId, now, budget }: Deps): Promise<Threads> {
  const threads = new Map<string, Thread>();
  const byId = new Map<string, string>();
  const placeOf = (sender: string, id: string): string => `${sender} ${id}`;

  const keep = (name: string, thread: Thread): void => {
    threads.delete(name);
    threads.set(name, thread);
    for (const { id } of [{ id: thread.root }, ...thread.mails]) if (id !== null) byId.set(placeOf(thread.sender, id), name);
  };
  const forget = (name: string): void => {
    const thread = threads.get(name);
    threads.delete(name);
    for (const { id } of [{ id: thread?.root ?? null }, ...(thread?.mails ?? [])])
      if (id !== null && thread !== undefined) byId.delete(placeOf(thread.sender, id));
  };
  const kept = (await state.list(prefix)).map(({ key, value }) => ({ name: key.slice(prefix.length), value: value as Thread }));
  for (const { name, value } of kept.toSorted((one, other) => one.value.at - other.value.at)) keep(name, value);

  async function save(name: string, thread: Thread): Promise<void> {
    keep(name, thread);
    const changes: Record<string, Thread | undefined> = { [prefix + name]: thread };
    for (const oldest of threads.keys()) {
      if (threads.size <= mostThreads) break;
      forget(oldest);
      changes[prefix + oldest] = undefined;
    }
    await state.change(changes);
  }

  const named = (name: string, thread: Thread): NamedThread => ({
    ...thread,
    target: `thread:${name}`,
    // Includes the sender, so that no id in a mail leads into another sender's conversation.
    conversationKey: emailKey(meta.type, instanceId, placeOf(thread.sender, thread.root)),
  });

  function find({ sender, subject, ids }: NewMail): string | null {
    for (const id of [ids.own, ...ids.before.toReversed()]) {
      const found = id === null ? undefined : byId.get(placeOf(sender, id));
      if (found !== undefined) return found;
    }
    if (ids.before.length > 0 || !isAnswer(subject)) return null;
    const wanted = plainSubject(subject);
    const last = [...threads].findLast(
      ([, one]) => one.sender === sender && one.at > now() - subjectMs && plainSubject(one.subject) === wanted,
    );
    return wanted === '' ? null : (last?.[0] ?? null);
  }

  return {
    async place(mail) {
      const { sender, name: mailName, subject, ids, arrivedAt } = mail;
      const root = (ids.before[0] ?? ids.own ?? mailName).slice(0, 998);
      const name = find(mail) ?? nameOf(sender, root);
      const thread = threads.get(name) ?? { sender, subject, root, mails: [], times: [], at: 0 };
      // A mail that is delivered again was already counted.
      if (thread.mails.some((one) => one.name === mailName)) return named(name, thread);
      // By arrival: after an outage, the mails of days come at once.
      const times = thread.times.filter((at) => isWithin(at, hourMs, arrivedAt));
      if (times.length >= budget) return null;
      const id = ids.own !== null && ids.own.length <= longestId ? ids.own : null;
      const mails = [...thread.mails, { name: mailName, id }].slice(-mostMails);
      const next = { ...thread, mails, times: [...times, arrivedAt], at: now() };
      await save(name, next);
      return named(name, next);
    },
    ofTarget,
    async noteOwn(target, id, subject) {
      const known = ofTarget(target);
      const isNew = known.root === '';
      const name = isNew ? nameOf(known.sender, id) : known.target.slice('thread:'.length);
      const { sender, mails, times } = known;
      if (mails.some((mail) => mail.id === id)) return;
      const own = { name: '', id };
      await save(name, {
        sender,
        subject: isNew ? subject : known.subject,
        root: isNew ? id : known.root,
        mails: [...mails, own].slice(-mostMails),
        times,
        at: now(),
      });
    },
  };

  function ofTarget(target: string): NamedThread {
    const [, name] = /^thread:(.+)$/.exec(target) ?? [];
    const thread = name === undefined ? undefined : threads.get(name);
    if (name !== undefined && thread !== undefined) return named(name, thread);
    const byKey = [...threads].map((entry) => named(...entry)).find((one) => one.conversationKey === target);
    if (byKey !== undefined) return byKey;
    const address = mailAddress(target);
    if (address === null)
      throw new ServiceError('unprocessable', `"${target}" is neither an address, such as ann@example.org, nor a known thread.`);
    return named(nameOf(address, ''), { sender: address, subject: '', root: '', mails: [], times: [], at: 0 });
  }
}
const nameOf = (sender: string, root: string): string => hash('sha256', `${sender} ${root}`, 'base64url').slice(0, 22);
