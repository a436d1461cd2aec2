import { valueOf, valuesOf, type MailHeaders } from './mail-headers.ts';

/**
 * Why a mail is never answered, whoever sent it, judged by its header alone; null when it may be (RFC 3834 section 2, RFC 5230 section
 * 4.6). `own`: the mailbox's addresses.
 */
export function neverAnswered(headers: MailHeaders, from: string | null, own: readonly string[]): string | null {
  const auto = valuesOf(headers, 'auto-submitted').find((value) => !/^no\s*(;|\(|$)/i.test(value));
  if (auto !== undefined) return 'a program sent it (Auto-Submitted)';
  if (headers.some(({ name }) => name.startsWith('list-'))) return 'it comes from a mailing list';
  if (/^(bulk|list|junk)\b/i.test(valueOf(headers, 'precedence') ?? '')) return 'it is bulk mail (Precedence)';
  if (valuesOf(headers, 'return-path').some((value) => /^<\s*>$/.test(value))) return 'it is a bounce (empty Return-Path)';
  if (/^multipart\/report\b|^message\/(delivery-status|disposition-notification)\b/i.test(valueOf(headers, 'content-type') ?? ''))
    return "it is a mail server's report";
  if (headers.some(({ name, value }) => autoReplyNames.has(name) && !/^(no|none)$/i.test(value)))
    return 'it is an automatic reply';
  if (from === null) return 'its sender cannot be read';
  if (own.includes(from)) return 'it comes from this mailbox itself';
  if (/^(mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?|.*-bounces?|owner-.*|.*-request)(\+.*)?@/.test(from))
    return 'its sender is an address that nobody reads';
  return null;
}

/** Non-standard headers of automatic mail. With the last one, Exchange says which automatic replies are unwanted. */
const autoReplyNames = new Set(['x-autoreply', 'x-autorespond', 'x-autoresponder', 'x-auto-response-suppress', 'x-loop']);
