import { Readable } from 'node:stream';
import SMTPConnection from 'nodemailer/lib/smtp-connection/index.js';
import XOAuth2 from 'nodemailer/lib/xoauth2/index.js';
import type { Credentials } from '../login/credentials.ts';
import { isLogin, mailFault } from '../mailbox/mail-fault.ts';
import { ServiceError } from '@svc/service-kit/service-error.ts';

export type SmtpLogin = {
  host: string;
  port: number;
  /** `none` is only for a server on the same machine. */
  tls: 'tls' | 'starttls' | 'none';
  user: string;
  credentials: Credentials;
  ca?: readonly string[] | undefined;
};
export type MailToSend = {
  from: string;
  to: string;
  /** Receives the same mail; empty for nobody. A refusal of this address is not an error, and nothing is sent when `to` is refused. */
  copyTo?: string;
  /** The whole mail with its header. */
  raw: Buffer;
  /**
   * Called when the server is ready for the content, of which it has received nothing: the moment to store that the outcome may be unknown
   * from now on. A rejection stops the sending, and nothing is sent.
   */
  begins(): Promise<void>;
  signal: AbortSignal;
};

export const smtpName = ({ host, port }: Pick<SmtpLogin, 'host' | 'port'>): string => `The SMTP server ${host}:${port}`;

/** Timeout until the server accepts a session, ms. */
const greetingMs = 10_000;
/** Timeout of a silent server, ms. */
const patienceMs = 60_000;
/** Pause before a retry when the server named none, s. */
const againAfterS = 60;

/**
 * Sends one mail, and resolves when the server has accepted it. Rejects with a `ServiceError`: `unprocessable`, with the server's message,
 * when it will never accept the mail; `busy` when nothing was sent and a retry may succeed, possibly only once the login or the encryption
 * is fixed. Any other error means that the final answer was not received, so it is unknown whether the mail was sent.
 */
export async function sendMail(login: SmtpLogin, mail: MailToSend): Promise<void> {
  mail.signal.throwIfAborted();
  return withServer(login, mail.signal, async (connection, step) => {
    const { from, to, copyTo = '', raw } = mail;
    let refusal: Error | undefined;
    const text = textOf(mail, () => {
      if (!String(connection.lastServerResponse).startsWith('354')) return false;
      // The server also wants the content when it accepts only the copy, which would then look like a sent mail in our mailbox.
      refusal = refusalOf(to, connection);
      if (refusal !== undefined) throw refusal;
      return true;
    });
    try {
      const envelope = { from, to: copyTo === '' ? [to] : [to, copyTo], size: raw.length };
      await step((done) => connection.send(envelope, text.stream, done));
    } catch (error) {
      throw toFault(refusal ?? error, text.hasBegun());
    } finally {
      text.stream.destroy();
    }
  });
}

type Refusal = Error & { recipient?: string };

/** The server's answer to a refused recipient. Nodemailer reports it only after the content was sent, so it is read from its state. */
function refusalOf(recipient: string, connection: SMTPConnection): Refusal | undefined {
  const { _envelope: envelope } = connection as unknown as { _envelope: { rejectedErrors: Refusal[] } };
  return envelope.rejectedErrors.find((each) => each.recipient === recipient);
}

/** Checks that the server accepts the login. Rejects with a `ServiceError` that names the error. */
export const checkSmtp = (login: SmtpLogin, signal: AbortSignal): Promise<void> =>
  withServer(login, signal, async () => undefined);

async function withServer(
  login: SmtpLogin,
  signal: AbortSignal,
  work: (connection: SMTPConnection, step: Step) => Promise<void>,
): Promise<void> {
  const connection = new SMTPConnection({
    host: login.host,
    port: login.port,
    secure: login.tls === 'tls',
    requireTLS: login.tls === 'starttls',
    ignoreTLS: login.tls === 'none',
    ...(login.ca !== undefined && { tls: { ca: [...login.ca] } }),
    connectionTimeout: greetingMs,
    greetingTimeout: greetingMs,
    socketTimeout: patienceMs,
  });
  const broken = Promise.withResolvers<never>();
  broken.promise.catch(() => undefined); // it is awaited below, together with each step
  connection.on('error', broken.reject);
  connection.on('end', () => broken.reject(new Error('The mail server closed the connection.')));
  const abort = (): void => broken.reject(new Error('The request was cancelled.'));
  signal.addEventListener('abort', abort, { once: true });
  const step: Step = (run) =>
    Promise.race([
      broken.promise,
      new Promise<void>((resolve, reject) => run((error) => (error === undefined || error === null ? resolve() : reject(error)))),
    ]);
  try {
    await greeted(login, connection, step);
    await work(connection, step);
    connection.quit();
  } catch (error) {
    connection.close();
    throw error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

type Step = (run: (done: (error?: Error | null) => void) => void) => Promise<void>;

/** Connects and logs in. Errors here say nothing about the mail, so they are never final for it. */
async function greeted(login: SmtpLogin, connection: SMTPConnection, step: Step): Promise<void> {
  const { user, credentials } = login;
  try {
    await step((done) => connection.connect(done));
    // A server on this machine may accept its users' mail without a login.
    if (login.tls === 'none' && !(connection as unknown as { allowsAuth: boolean }).allowsAuth) return;
    const credential = await credentials.current();
    const auth =
      'password' in credential
        ? { credentials: { user, pass: credential.password } }
        : { user, oauth2: new XOAuth2({ user, accessToken: credential.accessToken }) };
    await step((done) => connection.login(auth as Parameters<SMTPConnection['login']>[0], done));
  } catch (error) {
    const fault = mailFault(smtpName(login), error);
    if (isLogin(fault)) credentials.refused();
    throw fault;
  }
}

/**
 * The content as a stream. Nodemailer reads it when the server wants the content, but also, to discard it, when it does not: `isWanted`
 * tells which. If that throws, the sending and the connection end, so that the server stores nothing.
 */
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

function toFault(error: unknown, hasBegun: boolean): Error {
  if (error instanceof ServiceError) return error;
  const { responseCode, response, message } = error as { responseCode?: number; response?: string; message: string };
  const words = response ?? message;
  if (responseCode !== undefined && responseCode >= 500)
    return new ServiceError('unprocessable', `The mail server refused the message: ${words}`);
  if (responseCode !== undefined || !hasBegun) {
    return new ServiceError('busy', `The mail server did not accept the message: ${words}`, {
      details: { retry_after_s: againAfterS },
    });
  }
  return new Error(`The mail server did not confirm the message: ${words}`);
}
