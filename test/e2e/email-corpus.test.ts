import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { waitFor } from '@svc/testing/house.ts';
import { mailbox, type CorpusMail } from '@svc/testing/mail-corpus/corpus-mail.ts';
import { mailCorpus } from '@svc/testing/mail-corpus/mail-corpus.ts';
import { spoofedMails, victim } from '@svc/testing/mail-corpus/spoofed-mails.ts';
import { whyNoMailServers } from '@svc/testing/mail-servers/mail-programs.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { openEmailService, type EmailService } from './email/email-service.ts';

const why = whyNoMailServers();
/** How many of the mails that are answered are used, since each takes a turn of an engine; the others are all used. */
const most = Number(process.env['EMAIL_CORPUS'] ?? 12);
const script = `export async function* respond() { yield { type: 'segment', text: 'Yes.' }; }`;
const refused = {
  'gone@friend.example': '550 5.1.1 Nobody of this name is here',
  'full@friend.example': '552 5.2.2 The mailbox is full',
};

type Skipped = { uid: number; reason: string };

describe.skipIf(why !== null)(`corpus of e-mails${skipNote(why)}`, () => {
  let service!: EmailService;
  const answered = mailCorpus().filter(({ fate }) => fate === 'answered');
  const step = Math.max(1, answered.length / most);
  const chosen = Array.from({ length: Math.min(most, answered.length) }, (_, n) => answered[Math.floor(n * step)] as CorpusMail);
  const corpus = [...mailCorpus().filter(({ fate }) => fate !== 'answered'), ...chosen];
  const uids = new Map<number, CorpusMail>();
  /** One at a time, each read before the next, to know the UID of each: the server may number several new mails in any order. */
  async function deliver(mails: readonly CorpusMail[]): Promise<void> {
    let last = (await service.servers.read(mailbox)).at(-1)?.uid ?? 0;
    for (const mail of mails) {
      await service.servers.deliver(mailbox, mail.raw(), mail.envelopeFrom);
      // Bounces come back into the same mailbox.
      const fresh = (await service.servers.read(mailbox)).filter(({ uid }) => uid > last);
      const own = fresh.find(({ raw }) => raw.includes(mail.from)) ?? fresh.at(-1);
      if (own !== undefined) uids.set(own.uid, mail);
      last = fresh.at(-1)?.uid ?? last;
    }
  }
  const skipped = (): Skipped[] =>
    service
      .log()
      .split('\n')
      .slice(0, -1) // the last line may not be whole yet
      .flatMap((line) => (line.includes('mail is not answered') ? [JSON.parse(line) as Skipped] : []));
  const got = (address: string): number => service.servers.kept(address).length;

  /** The mails of the corpus that were not answered exactly once, or not skipped for the right reason. */
  function findWrong(): string[] {
    const reasons = new Map(skipped().map(({ uid, reason }) => [uid, reason]));
    const delivered = [...uids].filter(([, mail]) => corpus.includes(mail));
    if (delivered.length === 0) return ['nothing was looked at'];
    return delivered.flatMap(([uid, { name, from, fate }]) => {
      const reason = reasons.get(uid);
      const isWell =
        fate === 'answered'
          ? got(from) === 1 && reason === undefined
          : fate.never.test(reason ?? '') && (from.toLowerCase() === mailbox || got(from) === 0);
      return isWell ? [] : [`${name} (${from}): ${got(from)} answers, ${reason ?? 'no reason'}`];
    });
  }

  beforeAll(async () => {
    const people = [...chosen.map(({ from }) => from), victim, ...Object.keys(refused)];
    service = await openEmailService({ people, script, mail: { refused } });
  }, 120_000);
  afterAll(() => service?.close());

  test(
    `answers each of ${corpus.length} mails once, or logs the reason why not`,
    async () => {
      await deliver(corpus);
      await waitFor(
        () => findWrong().length === 0,
        60_000 + corpus.length * 600,
        () => `${findWrong().length}: ${findWrong().slice(0, 12).join('\n')}\n${service.log().slice(-4000)}`,
      );
      expect(service.faults()).toBe('');
    },
    150_000 + corpus.length * 700,
  );

  test('none of 30 spoofed mails is taken for a known person', async () => {
    const mails = spoofedMails();
    await deliver(mails);
    // The last one is honest: when it is answered all before it were looked at.
    const honest = {
      ...mails[0]!,
      name: 'honest',
      raw: () => Buffer.from(mails[0]!.raw().toString().replace('dmarc=fail', 'dmarc=pass')),
    };
    await service.servers.deliver(mailbox, honest.raw(), victim);
    await waitFor(
      () => got(victim) > 0,
      60_000,
      () => `the honest mail is not answered\n${service.log().slice(-4000)}`,
    );
    const { body } = await requestJson<{ sessions: { conversation_key: string }[] }>(
      `${service.coreUrl}/v2/sessions?limit=1000`,
      {
        timeoutMs: 10_000,
      },
    );
    const ofEvil = body.sessions.filter(({ conversation_key: key }) => /evil|frıend|xn--/.test(key));
    const toEvil = service.servers.kept('mallory@evil.example').filter(({ raw }) => raw().includes('Yes.'));
    expect([got(victim), toEvil, ofEvil]).toEqual([1, [], []]);
    expect(findWrong()).toEqual([]); // no answer came a second time meanwhile
  }, 120_000);
});
