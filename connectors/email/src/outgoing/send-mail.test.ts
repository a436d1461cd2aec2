import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { sendMail, type SmtpLogin } from './send-mail.ts';

type Script = { answers?: Record<string, string>; hangsUpAt?: 'DATA' | 'text' };

/** A mail server that answers as given, which a real one cannot be made to do. `texts`: the mails it received completely. */
async function scripted({ answers = {}, hangsUpAt }: Script = {}): Promise<{ login: SmtpLogin; texts: string[] }> {
  const texts: string[] = [];
  const server = createServer((socket) => {
    let text: string[] | null = null;
    const say = (command: string, usual: string, line = '') => socket.write(`${answers[line] ?? answers[command] ?? usual}\r\n`);
    socket.on('error', () => undefined); // a client may disconnect first
    socket.write('220 here\r\n');
    createInterface({ input: socket }).on('line', (line) => {
      const command = line.slice(0, 4).toUpperCase();
      if (text !== null && line !== '.') return void text.push(line);
      if (text !== null) {
        texts.push(text.join('\n'));
        text = null;
        return hangsUpAt === 'text' ? void socket.destroy() : void say('text', '250 taken');
      }
      if (command === 'EHLO') return void say(command, '250-here\r\n250 AUTH PLAIN');
      if (command === 'AUTH') return void say(command, '235 welcome');
      if (command === 'QUIT') return void socket.end('221 bye\r\n');
      if (command !== 'DATA') return void say(command, '250 ok', line);
      if (hangsUpAt === 'DATA') return void socket.destroy();
      if (answers['DATA'] === undefined) text = [];
      say(command, '354 go on');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    login: {
      host: '127.0.0.1',
      port,
      tls: 'none',
      user: 'bot',
      credentials: { current: async () => ({ password: 'pw' }), refused: () => undefined },
    },
    texts,
  };
}

async function send(login: SmtpLogin, begins?: () => Promise<void>, copyTo = '') {
  let begun = 0;
  const mail = {
    from: 'bot@home.example',
    to: 'ann@friend.example',
    copyTo,
    raw: Buffer.from('Subject: x\r\n\r\nhello\r\n.\r\n'),
    begins: begins ?? (async () => void begun++),
    signal: AbortSignal.timeout(10_000),
  };
  const fault = await sendMail(login, mail).then(
    () => null,
    (error: Error & { code?: string }) => error,
  );
  return { begun, fault };
}

test('records that a mail is being sent, then sends all of it', async () => {
  const { login, texts } = await scripted();
  expect(await send(login)).toEqual({ begun: 1, fault: null });
  expect(texts).toEqual(['Subject: x\n\nhello\n..']);
});

test.each([
  ['a refused sender', { MAIL: '550 no such user here' }, 'unprocessable', 'no such user here'],
  ['a refused recipient', { RCPT: '552 mailbox is full' }, 'unprocessable', 'mailbox is full'],
  ['a refused password', { AUTH: '535 wrong password' }, 'busy', 'wrong password'],
  ['a server that is busy', { RCPT: '451 come back later' }, 'busy', 'come back later'],
  ['a server that wants no text', { DATA: '452 no room' }, 'busy', 'no room'],
])("reports %s in the server's words, and sends nothing", async (_name, answers, code, words) => {
  const { login, texts } = await scripted({ answers });
  const { begun, fault } = await send(login);
  expect({ begun, code: fault?.code, texts }).toEqual({ begun: 0, code, texts: [] });
  expect(fault?.message).toContain(words);
});

test.each([
  ['for good', '550 no such user here', 'unprocessable'],
  ['for now', '450 come back later', 'busy'],
])('sends no copy to ourselves when the recipient is refused %s', async (_name, answer, code) => {
  const { login, texts } = await scripted({ answers: { 'RCPT TO:<ann@friend.example>': answer } });
  const { begun, fault } = await send(login, undefined, 'bot@home.example');
  expect({ begun, code: fault?.code, texts }).toEqual({ begun: 0, code, texts: [] });
  expect(fault?.message).toContain(answer.slice(4));
});

test('a refused copy does not affect the recipient', async () => {
  const { login, texts } = await scripted({ answers: { 'RCPT TO:<bot@home.example>': '552 mailbox is full' } });
  expect(await send(login, undefined, 'bot@home.example')).toEqual({ begun: 1, fault: null });
  expect(texts).toHaveLength(1);
});

test('reports a text that is refused at the end as not sent', async () => {
  const { login } = await scripted({ answers: { text: '554 spam' } });
  expect((await send(login)).fault?.code).toBe('unprocessable');
});

test('allows a retry when the server disconnects before the text', async () => {
  const { login } = await scripted({ hangsUpAt: 'DATA' });
  expect(await send(login)).toMatchObject({ begun: 0, fault: { code: 'busy' } });
});

test('reports an unknown result when the server disconnects after the text', async () => {
  const { login, texts } = await scripted({ hangsUpAt: 'text' });
  const { begun, fault } = await send(login);
  expect({ begun, code: fault?.code, sent: texts.length }).toEqual({ begun: 1, code: undefined, sent: 1 });
  expect(fault?.message).toContain('did not confirm the message');
});

test('sends nothing if it cannot record that', async () => {
  const { login, texts } = await scripted();
  const { fault } = await send(login, () => Promise.reject(new Error('the disk is full')));
  expect({ code: fault?.code, texts }).toEqual({ code: 'busy', texts: [] });
});

test('allows a retry when the server is unreachable', async () => {
  const { login } = await scripted();
  expect((await send({ ...login, port: 1 })).fault).toMatchObject({ code: 'busy' });
});
