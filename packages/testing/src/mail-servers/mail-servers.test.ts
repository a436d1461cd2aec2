import { readFileSync } from 'node:fs';
import { ImapFlow } from 'imapflow';
import nodemailer from 'nodemailer';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { skipNote } from '../skip-note.ts';
import { whyNoMailServers } from './mail-programs.ts';
import { startMailServers, type MailServers } from './start-mail-servers.ts';

const why = whyNoMailServers();
const bot = 'bot@home.example';
const patience = { timeout: 20_000, interval: 50 };
const mail = (subject: string): string =>
  `From: ann@friend.example\r\nTo: ${bot}\r\nSubject: ${subject}\r\n\r\nShall we eat?\r\n`;

describe.skipIf(why !== null)(`test mail servers${skipNote(why)}`, () => {
  let servers!: MailServers;
  const post = (to: string) =>
    nodemailer
      .createTransport({
        host: '127.0.0.1',
        port: servers.ports.submission,
        secure: true,
        auth: { user: bot, pass: servers.password },
        tls: { ca: readFileSync(servers.certFile) },
      })
      .sendMail({ from: bot, to, subject: 'Lunch', text: 'Yes.' });
  beforeAll(async () => {
    servers = await startMailServers({
      refused: { 'gone@friend.example': '550 5.1.1 Nobody of this name is here' },
      full: ['full@friend.example'],
    });
  });
  afterAll(() => servers?.stop());

  test('a delivery wakes an idle IMAP client over TLS', async () => {
    const client = new ImapFlow({
      host: '127.0.0.1',
      port: servers.ports.imaps,
      secure: true,
      tls: { ca: readFileSync(servers.certFile) },
      auth: { user: bot, pass: servers.password },
      logger: false,
    });
    await client.connect();
    expect(client.capabilities.has('IDLE') && client.capabilities.has('UIDPLUS') && client.capabilities.has('MOVE')).toBe(true);
    await client.mailboxOpen('INBOX');
    const woken = new Promise((resolve) => client.once('exists', resolve));
    void client.idle();
    await servers.deliver(bot, mail('One'));
    expect(await woken).toMatchObject({ path: 'INBOX', count: 1 });
    client.close();
    await servers.restartImap();
    const [first] = await servers.read(bot);
    expect(first?.raw.toString()).toContain('Subject: One');
    expect(await servers.read(bot, 'Sent')).toEqual([]);
  });

  test('a posted message arrives in the mailbox of its recipient', async () => {
    await post('ann@friend.example');
    await vi.waitFor(async () => expect(await servers.read('ann@friend.example')).toHaveLength(1), patience);
  });

  test('report a wrong password, a refused recipient and a full mailbox with their codes', async () => {
    const { password } = servers;
    servers.password = 'not this';
    await expect(post('ann@friend.example')).rejects.toThrow(/535/);
    servers.password = password;
    await expect(post('gone@friend.example')).rejects.toThrow(/550 5\.1\.1 .*Nobody of this name is here/);
    await expect(servers.deliver('full@friend.example', mail('Two'))).rejects.toThrow(/552 5\.2\.2.*Quota exceeded/);
  });
});
