import { createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export type SentMail = { from: string; to: string[]; raw: string };
export type SmtpSink = {
  port: number;
  mails: SentMail[];
  /** What it says to a command in the place of its usual answer; `AUTH`, `RCPT`, or `text` for the whole mail. `drop` hangs up without one. */
  answers: Map<string, string>;
  /** How people have logged in, as they said it. */
  logins: string[];
  close(): Promise<void>;
};

/** A mail server that keeps what it is given, and can be told to refuse: what a real one cannot be made to do at will. */
export async function startSmtpSink(port = 0): Promise<SmtpSink> {
  const sink: SmtpSink = { port: 0, mails: [], answers: new Map(), logins: [], close };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => undefined); // a client may hang up first
    let mail: SentMail = { from: '', to: [], raw: '' };
    let lines: string[] | null = null;
    const say = (command: string, usual: string): void => {
      const answer = sink.answers.get(command) ?? usual;
      if (answer === 'drop') socket.destroy();
      else socket.write(`${answer}\r\n`);
    };
    socket.write('220 here\r\n');
    createInterface({ input: socket, crlfDelay: Infinity }).on('line', (line) => {
      if (lines !== null && line !== '.') return void lines.push(line.replace(/^\./, ''));
      if (lines !== null) {
        const answer = sink.answers.get('text') ?? '250 taken';
        if (answer === 'drop' || answer.startsWith('2')) sink.mails.push({ ...mail, raw: lines.join('\r\n') });
        lines = null;
        return say('text', '250 taken');
      }
      const command = line.slice(0, 4).toUpperCase();
      const [, address = ''] = /<(.*?)>/.exec(line) ?? [];
      if (command === 'EHLO') return say(command, '250-here\r\n250 AUTH PLAIN XOAUTH2');
      if (command === 'AUTH') {
        sink.logins.push(line);
        return say(command, '235 welcome');
      }
      if (command === 'MAIL') mail = { from: address, to: [], raw: '' };
      if (command === 'RCPT') mail.to.push(address);
      if (command === 'QUIT') return void socket.end('221 bye\r\n');
      if (command === 'DATA' && !sink.answers.has('DATA')) lines = [];
      say(command, command === 'DATA' ? '354 go on' : '250 ok');
    });
  });
  async function close(): Promise<void> {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  }
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  sink.port = (server.address() as AddressInfo).port;
  return sink;
}
