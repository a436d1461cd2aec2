import { ServiceError } from '@svc/service-kit/service-error.ts';

/** A mail server that does not let us work. `passes`: it may be well again without anybody's doing. */
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

/** What keeps a server from serving us, in words for the operator. `server`: such as `The IMAP server mail.example.org:993`. */
export function mailFault(server: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const { code = '', responseCode, responseText, response, message = '', ...raw } = (error ?? {}) as Raw;
  const words = responseText ?? (typeof response === 'string' && response !== '' ? response : message);
  if (raw.authenticationFailed === true || code === 'EAUTH' || responseCode === 535 || responseCode === 534)
    return fault('login', `${server} refuses the login: ${words} Check user and the secret of password_secret_key.`);
  if (raw.mailboxMissing === true) return fault('folder', `${server} has no such folder: ${words} Check folders.`);
  if (/CERT|SELF_SIGNED|TLS|SSL|ALTNAME|EPROTO|WRONG_VERSION/.test(code) || /\b(tls|ssl|certificate)\b/i.test(message))
    return fault('tls', `${server} cannot be spoken with in private (TLS): ${words} Check its port and its encryption.`);
  if (/^(E[A-Z_]+|NoConnection|CONNECT_TIMEOUT|GREETING_TIMEOUT|UPGRADE_TIMEOUT)$/.test(code))
    return fault('network', `${server} cannot be reached (${code}): ${words}`);
  return fault('other', `${server} does not serve us: ${words}`);
}

const fault = (kind: MailFault['details']['fault'], text: string): ServiceError =>
  new ServiceError('busy', text, { details: { ...again, fault: kind } });

/** Whether somebody has to change something before it can work. */
export const isOperators = (error: unknown): boolean =>
  error instanceof ServiceError && ['login', 'tls', 'folder'].includes(String(error.details['fault']));
