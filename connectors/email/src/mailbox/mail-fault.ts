import { ServiceError } from '@svc/service-kit/service-error.ts';

/** An error of a mail server. Network errors may pass by themselves; all others the operator must resolve. */
export type MailFault = ServiceError & { details: { fault: 'login' | 'tls' | 'folder' | 'network' | 'other' } };

type Raw = {
  code?: string;
  responseCode?: number;
  responseText?: string;
  response?: unknown;
  message?: string;
  authenticationFailed?: boolean;
  mailboxMissing?: boolean;
};

const again = { retry_after_s: 60 };
/** imapflow's message for a server that does not support the chosen kind of login. */
const noLogin = /Unsupported authentication mechanism/i;

/** Describes a mail server's error for the operator. `server`: such as `The IMAP server mail.example.org:993`. */
export function mailFault(server: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code = '', responseCode, responseText, response, message = '', ...raw } = (error ?? {}) as Raw;
  const words = sentence(responseText ?? (typeof response === 'string' && response !== '' ? response : message));
  if (
    raw.authenticationFailed === true ||
    code === 'EAUTH' ||
    responseCode === 535 ||
    responseCode === 534 ||
    noLogin.test(message)
  )
    return fault('login', `${server} refused the login: ${words} Check user and the secret that password_secret_key names.`);
  if (raw.mailboxMissing === true) return fault('folder', `${server} has no such folder: ${words} Check the setting folders.`);
  if (/CERT|SELF_SIGNED|TLS|SSL|ALTNAME|EPROTO|WRONG_VERSION/.test(code) || /\b(tls|ssl|certificate)\b/i.test(message))
    return fault('tls', `A TLS connection to ${server} failed: ${words} Check its port, the encryption settings and ca_file.`);
  if (/^(E[A-Z_]+|NoConnection|CONNECT_TIMEOUT|GREETING_TIMEOUT|UPGRADE_TIMEOUT)$/.test(code))
    return fault('network', `${server} cannot be reached (${code}): ${words}`);
  return fault('other', `${server} reported an error: ${words}`);
}

/** Ends with one full stop, without OpenSSL's source location and without Node's hint about a start option. */
function sentence(text: string): string {
  const [, plain] = /^[0-9A-F]+:error:[0-9A-F]+:[^:]*:[^:]*:([^:]*):/.exec(text) ?? [];
  const words = (plain ?? text)
    .replace(/; if the root CA is installed.*$/s, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return words === '' ? 'It gave no reason.' : words.replace(/[.!]*$/, '.');
}

const fault = (kind: MailFault['details']['fault'], text: string): ServiceError =>
  new ServiceError('busy', text, { details: { ...again, fault: kind } });

export const isLogin = (error: unknown): boolean => error instanceof ServiceError && error.details['fault'] === 'login';

/** Whether the operator must change something. */
export const isOperators = (error: unknown): boolean =>
  error instanceof ServiceError && ['login', 'tls', 'folder'].includes(String(error.details['fault']));
