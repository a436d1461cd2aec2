import { simpleParser } from 'mailparser';
import type { MailServers } from '@svc/testing/mail-servers/start-mail-servers.ts';
import { saysGivenUp, type GivenUp } from '../killed-chat/given-up.ts';

/** A question that a person has mailed, and its expected answer. */
export type Asked = { person: string; id: string; name: string; answer: string; at: number };

/** `twice`: mails that were sent again with the same Message-ID, because it was unknown whether they had arrived: the server keeps no copy of sent mail. */
export type Found = { broken: string[]; givenUp: GivenUp[]; twice: number };

type Answer = { id: string; answers: string; text: string };
const known = new WeakMap<MailServers, Map<string, Promise<Answer>>>();

/** The mails that an account received, each parsed once. */
async function answersTo(servers: MailServers, person: string): Promise<Answer[]> {
  const parsed = known.get(servers) ?? new Map<string, Promise<Answer>>();
  known.set(servers, parsed);
  return Promise.all(
    servers.kept(person).map(({ file, raw }) => {
      const found = parsed.get(file) ?? read(raw());
      parsed.set(file, found);
      return found;
    }),
  );
}

async function read(raw: Buffer): Promise<Answer> {
  const { messageId = '', inReplyTo = '', text = '' } = await simpleParser(raw);
  return { id: messageId, answers: inReplyTo, text: text.replaceAll(/\s+/g, ' ').trim() };
}

/** Every broken rule: each mail must be answered once and correctly, and nothing else be sent. `failed`: names of the mails whose turns the core lists as failed. */
export async function findBroken(servers: MailServers, asked: readonly Asked[], failed: ReadonlySet<string>): Promise<Found> {
  const found: Found = { broken: [], givenUp: [], twice: 0 };
  for (const [person, own] of Map.groupBy(asked, (one) => one.person)) {
    const answers = await answersTo(servers, person);
    const wanted = new Set(own.map(({ id }) => id));
    for (const { id, name, answer, at } of own) {
      const all = answers.filter((one) => one.answers === id);
      const shown = [...new Map(all.map((one) => [one.id, one])).values()];
      found.twice += all.length - shown.length;
      const [only] = shown;
      if (shown.length === 1 && only?.text === answer) continue;
      if (shown.length === 1 && failed.has(name) && saysGivenUp(only?.text ?? '')) found.givenUp.push({ name, place: id, at });
      else
        found.broken.push(
          `${name} of ${person} has ${shown.length} answers: ${shown.map((one) => `${one.id} ${one.text.slice(0, 80)}`).join(' | ')}`,
        );
    }
    for (const { answers: answered, text } of answers)
      if (!wanted.has(answered)) found.broken.push(`left over at ${person}, to ${answered}: ${text.slice(0, 80)}`);
  }
  return found;
}

export const isAnswered = async (servers: MailServers, { person, id }: Asked): Promise<boolean> =>
  (await answersTo(servers, person)).some(({ answers }) => answers === id);
