import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js';
import { ServiceError } from '@svc/service-kit/service-error.ts';

export type SmtpLogin = {
  host: string;
  port: number;
  /** `none` is for a server on the same machine. */
  tls: 'tls' | 'starttls' | 'none';
  user: string;
  /** Empty for a server that asks for none. */
  password: string;
};
export type MailToSend = {
  from: string;
  to: string;
  /** The whole mail, with its header. */
  raw: Buffer;
  /**
   * The server is ready for the text, of which it has nothing yet: the moment to note that from here on nobody may know what came of it. A rejection
   * ends the sending, and nothing was sent.
   */
  begins(): Promise<void>;
  signal: AbortSignal;
};

/** Longest silence of the server, ms. */
const patienceMs = 60_000;
/** Pause before another try where the server named none, s. */
const againAfterS = 60;

/**
 * Hands one mail to the server, and resolves when the server has taken it. Rejects with a `ServiceError`: `unprocessable` where it never will, with its
 * words, `busy` where nothing was sent and another try may do, which a refused login is too: it says nothing of the mail; and with any other error where the answer to the text was not seen, so that nobody
 * knows whether it was sent.
 */
export async function sendMail(login: SmtpLogin, mail: MailToSend): Promise<void> {
  mail.signal.throwIfAborted();
  const connection = new SMTPConnection({
    host: login.host,
    port: login.port,
    secure: login.tls === 'tls',
    requireTLS: login.tls === 'starttls',
    ignoreTLS: login.tls === 'none',
    connectionTimeout: patienceMs,
    greetingTimeout: patienceMs,
    socketTimeout: patienceMs,
  });
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined); // it is awaited below, together with each step
  connection.on('error', broken.reject);
  connection.on('end', () => broken.reject(new Error('The mail server has hung up.')));
  const abort = (): void => broken.reject(new Error('Nobody waits for it any longer.'));
  mail.signal.addEventListener('abort', abort, { once: true });
  const step = (run: (done: (error?: Error | null) => void) => void): Promise<void> =>
    Promise.race([
      broken.promise,
      new Promise<void>((resolve, reject) => run((error) => (error === undefined || error === null ? resolve() : reject(error)))),
    ]);
  let isLetIn = false;
  const text = textOf(mail, () => String(connection.lastServerResponse).startsWith('354'));
  try {
    await step((done) => connection.connect(done));
    if (login.password !== '')
      await step((done) => connection.login({ credentials: { user: login.user, pass: login.password } }, done));
    isLetIn = true;
    await step((done) => connection.send({ from: mail.from, to: [mail.to], size: mail.raw.length }, text.stream, done));
    connection.quit();
  } catch (error) {
    connection.close();
    throw isLetIn ? toFault(error, text.hasBegun()) : notLetIn(error);
  } finally {
    mail.signal.removeEventListener('abort', abort);
    text.stream.destroy();
  }
}

/** The text as a stream that is read when the server wants it, and also, to nowhere, when it does not: so it is asked for. `isWanted`: it has said so. */
function textOf({ raw, begins }: MailToSend, isWanted: () => boolean): { stream: Readable; hasBegun(): boolean } {
  let hasBegun = false;
  async function* read(): AsyncGenerator<Buffer> {
    if (!isWanted()) return;
    await begins();
    hasBegun = true;
    yield raw;
  }
  return { stream: Readable.from(read(), { objectMode: false }), hasBegun: () => hasBegun };
}

function notLetIn(error: unknown): Error {
  const { response, message } = error as { response?: string; message: string };
  return new ServiceError('busy', `The mail server does not let us in: ${response ?? message}`, {
    details: { retry_after_s: againAfterS },
  });
}

function toFault(error: unknown, hasBegun: boolean): Error {
  const { responseCode, response, message } = error as { responseCode?: number; response?: string; message: string };
  const words = response ?? message;
  if (responseCode !== undefined && responseCode >= 500)
    return new ServiceError('unprocessable', `The mail server refused it: ${words}`);
  if (responseCode !== undefined || !hasBegun) {
    return new ServiceError('busy', `The mail server did not take it: ${words}`, { details: { retry_after_s: againAfterS } });
  }
  return new Error(`The mail server did not say whether it took the mail: ${words}`);
}
