import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { FakeTurn } from '@svc/connector-kit/testing/fake-core.ts';
import { listen } from '@svc/testing/listen.ts';
import { skipNote } from '@svc/testing/skip-note.ts';
import { readSubject } from '../src/incoming/read-body.ts';
import { startDovecot, whyNoDovecot, type Dovecot } from './dovecot.ts';
import { bot, fieldOf, mail, openEmail } from './open-email.ts';
import { startSmtpSink, type SentMail, type SmtpSink } from './smtp-sink.ts';

const ann = 'ann@friend.example';
const patience = { timeout: 20_000, interval: 20 };
let imap: Dovecot;
let smtp: SmtpSink;
let serial = 0;

/** The connector, and a mailbox that no other test has. */
async function opened(options: Partial<Parameters<typeof openEmail>[0]> = {}) {
  const user = `bot${(serial += 1)}-${process.pid}`;
  smtp = await startSmtpSink();
  onTestFinished(() => smtp.close());
  const email = await openEmail({ imap, smtp, user, ...options });
  return { ...email, user, put: (text: string, folder?: string) => imap.put(user, text, folder) };
}

/** Message-IDs of the answered mails, in order. */
const answered = () => smtp.mails.map(({ raw }) => fieldOf(raw, 'In-Reply-To'));
/** Resolves once this many mails have been sent. */
const sent = (count: number) => vi.waitFor(() => expect(smtp.mails).toHaveLength(count), patience);

describe.skipIf(whyNoDovecot !== null)(`e-mail${skipNote(whyNoDovecot)}`, () => {
  beforeAll(async () => {
    imap = await startDovecot();
  });
  afterAll(() => imap.stop());

  test('answers a mail in its thread, to its sender alone, marked as auto-replied', async () => {
    const { put, fake } = await opened();
    await put(mail());
    await sent(1);
    const [{ to, raw }] = smtp.mails as unknown as [SentMail];
    expect(to).toEqual([ann]);
    expect(['To', 'Cc', 'Subject', 'In-Reply-To', 'References', 'Auto-Submitted'].map((name) => fieldOf(raw, name))).toEqual([
      ann,
      undefined,
      'Re: Lunch',
      '<a1@friend.example>',
      '<a1@friend.example>',
      'auto-replied',
    ]);
    const [{ envelope }] = fake().core.turns as unknown as [FakeTurn];
    expect(envelope.sender.raw_id).toBe(ann);
    expect(envelope.content.text).toBe('[Written in a mail with the subject "Lunch"]\nShall we eat?');
    await vi.waitFor(() => expect(fake().core.acks).toEqual([{ turnId: 'turn_1' }]), patience);
  });

  test('a reply to our answer continues the conversation, but not one from another sender', async () => {
    const { put, fake } = await opened();
    await put(mail());
    await sent(1);
    const id = fieldOf(smtp.mails[0]!.raw, 'Message-ID');
    await put(mail({ id: 'a2@friend.example', subject: 'Re: Lunch', headers: [`In-Reply-To: ${id}`] }));
    await sent(2);
    await put(mail({ from: 'eve@other.example', id: 'e1@other.example', subject: 'Re: Lunch', headers: [`In-Reply-To: ${id}`] }));
    await sent(3);
    const [first, second, third] = fake().core.turns.map(({ envelope }) => envelope.conversation_key);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
    expect(fieldOf(smtp.mails[1]!.raw, 'References')).toBe(`<a1@friend.example> ${id} <a2@friend.example>`);
  });

  test('compares subjects regardless of encoding, and adds a single “Re:”', async () => {
    const { put, fake } = await opened();
    await put(mail({ subject: '=?utf-8?Q?Gr=C3=BC=C3=9Fe_aus_K=C3=B6ln?=' }));
    await sent(1);
    await put(mail({ id: 'a2@friend.example', subject: '=?iso-8859-1?Q?AW:_Gr=FC=DFe_aus_K=F6ln?=' }));
    await sent(2);
    await put(
      mail({ from: 'bob@friend.example', id: 'b1@friend.example', subject: '=?iso-8859-1?Q?AW:_Gr=FC=DFe_aus_K=F6ln?=' }),
    );
    await sent(3);
    const [first, second, third] = fake().core.turns.map(({ envelope }) => envelope.conversation_key);
    expect([second === first, third === first]).toEqual([true, false]);
    const subjects = await Promise.all(smtp.mails.map(({ raw }) => readSubject(fieldOf(raw, 'Subject') ?? '')));
    expect(subjects).toEqual(['Re: Grüße aus Köln', 'Re: Grüße aus Köln', 'Re: Grüße aus Köln']);
  });

  test('decodes a subject and a text of undeclared charset', async () => {
    const { user, fake } = await opened();
    const bytes = Buffer.from(mail({ subject: 'Gr\xfc\xdfe', body: 'K\xf6ln?' }).replaceAll(/\r?\n/g, '\r\n'), 'latin1');
    await imap.as(user, (client) => client.append('INBOX', bytes));
    await sent(1);
    const [{ envelope }] = fake().core.turns as unknown as [FakeTurn];
    expect(envelope.content.text).toBe('[Written in a mail with the subject "Grüße"]\nKöln?');
    expect(await readSubject(fieldOf(smtp.mails[0]!.raw, 'Subject') ?? '')).toBe('Re: Grüße');
  });

  test('watches several folders, does not answer mails from before the start, and marks nothing as read', async () => {
    const user = `bot-old-${process.pid}`;
    await imap.put(user, mail({ id: 'old@friend.example' }));
    const { put, fake } = await opened({ user, config: { folders: ['INBOX', 'Work'] } });
    await imap.put(user, mail({ id: 'work@friend.example', subject: 'Work' }), 'Work');
    await sent(1);
    await imap.put(user, mail({ id: 'in@friend.example', subject: 'In' }));
    await sent(2);
    void put;
    expect(fake().core.turns).toHaveLength(2);
    const seen = await imap.as(user, async (client) => {
      await client.mailboxOpen('INBOX', { readOnly: true });
      return (await client.fetchAll('1:*', { flags: true })).map(({ flags }) => [...(flags ?? [])].includes('\\Seen'));
    });
    expect(seen).toEqual([false, false]);
  });

  test('marks mails as read with mark_seen', async () => {
    const { put, user } = await opened({ config: { mark_seen: true } });
    await put(mail());
    await sent(1);
    await vi.waitFor(async () => {
      const unseen = await imap.as(user, async (client) => {
        await client.mailboxOpen('INBOX', { readOnly: true });
        return client.search({ seen: false });
      });
      expect(unseen).toEqual([]);
    }, patience);
  });

  test('answers mails that arrive during a restart, none of them twice', async () => {
    const { put, restart, fake } = await opened();
    await put(mail());
    await sent(1);
    await vi.waitFor(() => expect(fake().core.acks).toHaveLength(1), patience);
    await restart();
    await put(mail({ id: 'a2@friend.example' }));
    await sent(2);
    expect(smtp.mails.map(({ raw }) => fieldOf(raw, 'In-Reply-To'))).toEqual(['<a1@friend.example>', '<a2@friend.example>']);
  });

  test('after a change of mailbox, answers only new mails', async () => {
    const { put, restart } = await opened();
    await put(mail());
    await sent(1);
    const user = `bot-other-${process.pid}`;
    for (const id of ['o1', 'o2']) await imap.put(user, mail({ id: `${id}@friend.example` }));
    await restart({ user, address: 'other@home.example' });
    await imap.put(user, mail({ id: 'o3@friend.example' }));
    await sent(2);
    expect(answered()).toEqual(['<a1@friend.example>', '<o3@friend.example>']);
  });

  test('a folder added back is read from then on, and a failed start loses no mail', async () => {
    const { put, restart } = await opened({ config: { folders: ['INBOX', 'Work'] } });
    await put(mail({ id: 'w1@friend.example' }), 'Work');
    await sent(1);
    await expect(restart({ folders: ['INBOX', 'Wrok'] })).rejects.toThrow('no such folder');
    await put(mail({ id: 'w2@friend.example' }), 'Work');
    await restart();
    await sent(2);
    await restart({ folders: ['INBOX'] });
    await put(mail({ id: 'w3@friend.example' }), 'Work');
    await restart();
    await put(mail({ id: 'w4@friend.example' }), 'Work');
    await sent(3);
    expect(answered()).toEqual(['<w1@friend.example>', '<w2@friend.example>', '<w4@friend.example>']);
  });

  test('the first start fails when a server is unreachable, but a later start waits for it', async () => {
    const { restart } = await opened();
    await expect(restart({ smtp_port: 1 })).rejects.toThrow('cannot be reached');
    await restart();
  });

  test('health reports an SMTP server that is away, also at the start, and recovers without mail to send', async () => {
    const { restart, live, put } = await opened();
    await smtp.close();
    await restart();
    expect(live().health()).toEqual({ healthy: false, detail: expect.stringContaining('SMTP server') });
    smtp = await startSmtpSink(smtp.port);
    await vi.waitFor(() => expect(live().health()).toEqual({ healthy: true }), patience);
    await smtp.close();
    await put(mail());
    await vi.waitFor(() => expect(live().health()).toMatchObject({ healthy: false }), patience);
    smtp = await startSmtpSink(smtp.port);
    await vi.waitFor(() => expect(live().health()).toEqual({ healthy: true }), patience);
  });

  test('follows the mailbox again after a restart of the IMAP server', async () => {
    const { put, live } = await opened();
    await imap.restart();
    await put(mail());
    await sent(1);
    await vi.waitFor(() => expect(live().health()).toEqual({ healthy: true }), patience);
  });

  test.each([
    ['a program', mail({ headers: ['Auto-Submitted: auto-replied'] }), 'Auto-Submitted'],
    ['a mailing list', mail({ headers: ['List-Id: <list.example>'] }), 'mailing list'],
    ['a bounce', mail().replace(/^Return-Path: .*/, 'Return-Path: <>'), 'bounce'],
    ['itself', mail({ from: bot }), 'this mailbox itself'],
    ['a sender who is not who they say', mail({ said: 'dmarc=fail header.from=friend.example' }), 'not verified'],
  ])('does not answer %s, and logs why', async (_who, text, reason) => {
    const { put, logs, fake } = await opened();
    await put(text);
    await vi.waitFor(() => expect(logs.join('\n')).toContain(reason), patience);
    expect([fake().core.turns, smtp.mails]).toEqual([[], []]);
  });

  test('reads only the beginning of a huge header, and does not answer its mail', async () => {
    const { put, logs } = await opened();
    const line = `X-Padding: ${'x'.repeat(900)}`;
    await put(mail({ id: 'huge@friend.example', headers: Array.from({ length: 3000 }, () => line) }));
    await put(mail());
    await sent(1);
    expect(answered()).toEqual(['<a1@friend.example>']);
    expect(logs.join('\n')).toContain('its header is longer than 256 KB');
  });

  test('stays silent in a thread that has used up its budget', async () => {
    const { put, logs } = await opened({ config: { thread_budget: 1 } });
    await put(mail());
    await sent(1);
    await put(mail({ id: 'a2@friend.example', headers: ['References: <a1@friend.example>'] }));
    await vi.waitFor(() => expect(logs.join('\n')).toContain('thread_budget'), patience);
    expect(smtp.mails).toHaveLength(1);
  });

  test("takes a stranger's mail as public with its subject alone, unless it has the code of an invitation", async () => {
    const { put, fake } = await opened({ strangers: [ann], script: ({ result }) => result({ outcome: 'denied' }) });
    const turns = (count: number) => vi.waitFor(() => expect(fake().core.turns).toHaveLength(count), patience);
    await put(mail());
    await turns(1); // threads do not wait for each other
    await put(mail({ id: 'a2@friend.example', body: 'ABCD-EFGH-JKMN' }));
    await turns(2);
    const told = fake().core.turns.map(({ envelope }) => [envelope.content.text, envelope.public]);
    expect(told).toEqual([
      ['Lunch', true],
      ['ABCD-EFGH-JKMN', undefined],
    ]);
  });

  test('reads files, quotes and invitations', async () => {
    const { put, fake } = await opened();
    const parts = [
      'Content-Type: text/html; charset=utf-8\n\n<p>See <b>this</b><img src="https://evil.example/seen.gif"></p>',
      'Content-Type: image/png; name=cat.png\nContent-Disposition: inline\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=',
      'Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Lunch\nDTSTART:20261124T120000Z\nEND:VEVENT\nEND:VCALENDAR',
    ];
    const body = `${parts.map((part) => `--x\n${part}\n`).join('')}--x--`;
    await put(mail({ headers: ['MIME-Version: 1.0', 'Content-Type: multipart/mixed; boundary=x'], body }));
    await sent(1);
    const { text, attachments } = fake().core.turns[0]!.envelope.content;
    expect(text).toMatch(/See this/);
    expect(text).toMatch(/Lunch.*2026/s);
    expect(text).not.toContain('evil.example');
    expect(attachments?.map(({ name }) => name)).toEqual(['cat.png']);
    await put(mail({ id: 'a2@friend.example', body: 'Yes.\n\nOn Monday, Bot wrote:\n> Shall we?\n' }));
    await sent(2);
    const answer = fake().core.turns[1]!.envelope.content;
    expect(answer.text).not.toContain('Shall we?');
    const kept = fake().saved.find(({ path }) => path === answer.attachments?.[0]?.path);
    expect(kept?.content.toString()).toContain('Shall we?');
  });

  test('holds no more than two mails in memory at once', async () => {
    const { put, fake, logs } = await opened();
    const { uploads } = fake().context;
    const { save } = uploads;
    const enough = Promise.withResolvers<void>();
    let [saving, most] = [0, 0];
    uploads.save = async (file) => {
      most = Math.max(most, ++saving);
      await enough.promise;
      saving--;
      return save(file);
    };
    const ids = ['a1', 'a2', 'a3', 'a4'];
    const headers = ['MIME-Version: 1.0', 'Content-Type: image/png; name=cat.png', 'Content-Transfer-Encoding: base64'];
    for (const id of ids) await put(mail({ id: `${id}@friend.example`, subject: id, headers, body: 'iVBORw0KGgo=' }));
    await vi.waitFor(() => expect(saving).toBeGreaterThan(1), patience);
    await put(mail({ headers: ['List-Id: <list.example>'] }));
    await vi.waitFor(() => expect(logs.join('\n')).toContain('mailing list'), patience);
    enough.resolve();
    await sent(4);
    expect(most).toBe(2);
  });

  test('attaches files of an answer, and announces the capability to the core', async () => {
    let saved = { path: '', name: 'cat.png', mime: 'image/png' };
    const { put, fake } = await opened({
      script: ({ result }) =>
        result({
          actions: [
            { type: 'reply', text: 'Here it is.' },
            { type: 'file', ...saved },
          ],
        }),
    });
    saved = await fake().context.uploads.save({ name: 'cat.png', mime: 'image/png', data: Buffer.from('a cat') });
    await put(mail());
    await vi.waitFor(() => expect(fake().core.acks).toEqual([{ turnId: 'turn_1' }]), patience);
    expect(fake().core.turns[0]?.envelope.capabilities?.actions).toEqual(['file']);
    expect(smtp.mails).toHaveLength(1);
    const { raw } = smtp.mails[0]!;
    expect(fieldOf(raw, 'In-Reply-To')).toBe('<a1@friend.example>');
    expect(raw).toContain('Here it is.');
    expect(raw).toContain(Buffer.from('a cat').toString('base64'));
  });

  test('sends a message to an address and continues in its thread', async () => {
    const { live, put, fake } = await opened();
    const { signal } = new AbortController();
    await live().send?.({ id: 'snd_1', kind: 'text', target: ann, text: 'The train is late.' }, signal);
    const [{ to, raw }] = smtp.mails as unknown as [SentMail];
    expect([to, fieldOf(raw, 'Subject'), fieldOf(raw, 'Auto-Submitted')]).toEqual([
      [ann],
      'The train is late.',
      'auto-generated',
    ]);
    await put(mail({ subject: 'Re: The train is late.', headers: [`In-Reply-To: ${fieldOf(raw, 'Message-ID')}`] }));
    await sent(2);
    const target = String(fake().core.turns[0]?.envelope.channel_context?.['target']);
    const saved = await fake().context.uploads.save({ name: 'cat.png', mime: 'image/png', data: Buffer.from('a cat') });
    await live().send?.({ id: 'snd_2', kind: 'document', target, path: saved.path, caption: 'Look' }, signal);
    const [, , file] = smtp.mails.map((each) => each.raw);
    expect(fieldOf(file!, 'References')).toContain('a1@friend.example');
    expect(file).toContain(Buffer.from('a cat').toString('base64'));
    await expect(live().send?.({ id: 'snd_3', kind: 'text', target: 'nobody', text: 'x' }, signal)).rejects.toThrow(
      'is neither an address',
    );
  });

  test('a refused recipient fails the delivery with the message of the server', async () => {
    const { live } = await opened();
    smtp.answers.set('RCPT', '550 5.1.1 No such user here');
    const sending = live().send?.({ id: 'snd_1', kind: 'text', target: ann, text: 'x' }, new AbortController().signal);
    await expect(sending).rejects.toMatchObject({ code: 'unprocessable', message: expect.stringContaining('No such user here') });
  });

  test('looks for an answer that may have been sent before it sends it again', async () => {
    const { put, user, fake } = await opened({ config: { copy_to_self: true } });
    smtp.answers.set('text', 'drop');
    await put(mail());
    await sent(1);
    const [{ to, raw }] = smtp.mails as unknown as [SentMail];
    expect(to).toEqual([ann, bot]);
    await imap.put(user, raw);
    smtp.answers.delete('text');
    await vi.waitFor(() => expect(fake().core.acks).toEqual([{ turnId: 'turn_1' }]), patience);
    expect(smtp.mails).toHaveLength(1);
  });

  test('fetches a token for the login, and reports a server that refuses it', async () => {
    const asked: string[] = [];
    const server = createServer((req, res) => {
      req.setEncoding('utf8').on('data', (data: string) => void asked.push(data));
      req.on('end', () => res.end(JSON.stringify({ access_token: `token-${asked.length}`, expires_in: 3600 })));
    });
    const { url, close } = await listen(server);
    onTestFinished(close);
    const config = { login: 'xoauth2', oauth_token_url: url, oauth_client_id: 'client' } as const;
    // This Dovecot accepts no tokens, and its error differs.
    await expect(opened({ config, secrets: { PASSWORD: 'refresh-1' } })).rejects.toThrow(/refused the login/);
    expect(asked.map((form) => new URLSearchParams(form).get('refresh_token'))).toEqual(['refresh-1']);
  });

  test.each([
    ['the login', { user: '' }, 'refused the login'],
    ['the folder', { folders: ['INBOX', 'Nowhere'] }, 'no such folder'],
    ['the network', { imap_port: 1 }, 'cannot be reached'],
    ['TLS', { imap_tls: 'tls' }, 'TLS'],
    ['an open line', { smtp_host: 'mail.example.org' }, 'unencrypted'],
    ['a folder that is listed twice', { folders: ['INBOX', 'INBOX'] }, 'listed twice'],
  ])('the start reports what is wrong: %s', async (what, config, words) => {
    const secrets = what === 'the login' ? { PASSWORD: 'another one' } : undefined;
    const { user: _user, ...rest } = config as { user?: string };
    await expect(opened({ config: rest, ...(secrets && { secrets }) })).rejects.toThrow(words);
  });

  test('the start reports a failed login at the SMTP server', async () => {
    const user = `bot-smtp-${process.pid}`;
    const refusing = await startSmtpSink();
    onTestFinished(() => refusing.close());
    refusing.answers.set('AUTH', '535 5.7.8 Bad credentials');
    await expect(openEmail({ imap, smtp: refusing, user })).rejects.toThrow(/SMTP server.*refused the login.*Bad credentials/);
  });
});
