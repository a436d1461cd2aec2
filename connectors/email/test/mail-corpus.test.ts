import { expect, test } from 'vitest';
import { delivered, mailbox, ownServer, type CorpusMail } from '@svc/testing/mail-corpus/corpus-mail.ts';
import { corpusSize, mailCorpus } from '@svc/testing/mail-corpus/mail-corpus.ts';
import { spoofedMails, victim } from '@svc/testing/mail-corpus/spoofed-mails.ts';
import { readHeaders } from '../src/incoming/mail-headers.ts';
import { neverAnswered } from '../src/incoming/never-answered.ts';
import { readBody } from '../src/incoming/read-body.ts';
import { verifiedSender } from '../src/incoming/verified-sender.ts';

const own = { server: ownServer, hops: 2 };

function judge(mail: CorpusMail): { address: string | null; never: string | null; why: string | null } {
  const headers = readHeaders(delivered(mail).toString('utf8'));
  const { address, why } = verifiedSender(headers, own);
  return { address, never: neverAnswered(headers, address, [mailbox]), why };
}

test('verifies the sender of each mail in the corpus, or gives the reason not to answer', () => {
  const corpus = mailCorpus();
  expect(corpus).toHaveLength(corpusSize);
  const wrong = corpus.flatMap((mail) => {
    const { address, never, why } = judge(mail);
    const isRight =
      mail.fate === 'answered' ? address === mail.from && never === null && why === null : mail.fate.never.test(never ?? '');
    return isRight ? [] : [{ name: mail.name, address, never, why }];
  });
  expect(wrong).toEqual([]);
});

test('reads the text of each mail in the corpus', async () => {
  const wrong: object[] = [];
  for (const { name, from, says, fate, raw } of mailCorpus()) {
    if (fate !== 'answered') continue;
    const [read] = await Promise.allSettled([readBody(raw())]);
    const text = read.status === 'fulfilled' ? read.value.text : `rejected: ${read.reason}`;
    if (read.status === 'rejected' || (says !== undefined && !text.includes(says)))
      wrong.push({ name, from, says, text: text.slice(0, 200) });
  }
  expect(wrong).toEqual([]);
}, 60_000);

test.each(spoofedMails().map((mail) => [mail.name, mail] as const))('%s does not verify as the victim', (_name, mail) => {
  const { address, why } = judge(mail);
  expect({ isVictim: address === victim && why === null }).toEqual({ isVictim: false });
});

test('the genuine mail of the victim verifies', () => {
  const [first] = spoofedMails();
  const raw = () => Buffer.from(first!.raw().toString().replace('dmarc=fail', 'dmarc=pass'));
  expect(spoofedMails()).toHaveLength(30);
  expect(judge({ ...first!, raw })).toEqual({ address: victim, never: null, why: null });
});
