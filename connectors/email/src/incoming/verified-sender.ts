import addressParser from 'nodemailer/lib/addressparser/index.js';
import { parseAuthenticationResults, type AuthResult } from './authentication-results.ts';
import { domainOf, mailAddress } from './mail-address.ts';
import { valuesOf, type MailHeaders } from './mail-headers.ts';

/** The author of a mail. `why`: why the claimed address is not trusted; null when our own server vouches for it. */
export type MailSender = { address: string | null; why: string | null };

/**
 * The mailbox's mail server. `server`: the name under which it writes `Authentication-Results`. `hops`: how many `Received` headers it
 * adds; everything below the last of them may have been written by the sender. `place`: `below` for a server that writes its result right
 * below the last of its `Received` headers, as Gmail does: such a server must write it for each mail, or remove foreign headers with its
 * name.
 */
export type OwnServer = { server: string; hops: number; place?: 'above' | 'below' };

/**
 * The sender of a mail, and whether the mailbox's mail server vouches for the domain of the address. Only the topmost header with the
 * server's name counts, and only where no sender can write: a server that neither adds one nor removes foreign ones proves nothing.
 */
export function verifiedSender(headers: MailHeaders, own: OwnServer): MailSender {
  const { server } = own;
  const from = valuesOf(headers, 'from');
  if (from.length !== 1) return { address: null, why: `it has ${from.length} From fields` };
  const found = addressParser(from[0] ?? '');
  const [only] = found;
  if (found.length !== 1 || only === undefined || !('address' in only))
    return { address: null, why: 'its From field does not have exactly one address' };
  const address = mailAddress(only.address ?? '');
  if (address === null) return { address: null, why: 'the address in its From field is not a plain address' };
  if (server === '') return { address, why: 'authserv_id is not set' };
  const said = (part: MailHeaders) => valuesOf(part, 'authentication-results').filter((value) => startsWithName(value, server));
  const named = said(ownPart(headers, own));
  if (named[0] === undefined)
    return {
      address,
      why: `${server} says nothing about its origin${said(headers).length > 0 ? ' in a place that a sender cannot write to (received_hops, authserv_place)' : ''}`,
    };
  const parsed = parseAuthenticationResults(named[0]);
  if (parsed === null || parsed.server !== server.toLowerCase())
    return { address, why: `what ${server} says about its origin cannot be parsed` };
  return { address, why: whyNot(parsed.results, domainOf(address)) };
}

/** The headers that our own servers have added; empty when there are fewer `Received` headers than expected. */
function ownPart(headers: MailHeaders, { hops, place = 'above' }: OwnServer): MailHeaders {
  const marks = headers.flatMap(({ name }, at) => (name === 'received' ? [at] : []));
  if (marks.length < hops) return [];
  return headers.slice(0, place === 'above' ? marks[hops - 1] : marks[hops]);
}

/** Checked before parsing: an unreadable header of our own server must not let another one below it count. */
const startsWithName = (value: string, server: string): boolean => value.toLowerCase().includes(server.toLowerCase());

/** DMARC decides if it was checked; otherwise an aligned DKIM signature or SPF result of the same domain. */
function whyNot(results: readonly AuthResult[], domain: string): string | null {
  const isFor = (value: string | undefined): boolean => value !== undefined && value.toLowerCase().replace(/^.*@/, '') === domain;
  const dmarc = results.filter(({ method, result }) => method === 'dmarc' && result !== 'none');
  if (dmarc.length > 0) {
    const passes = dmarc.every(({ result, properties }) => result === 'pass' && isFor(properties.get('header.from')));
    return passes ? null : `DMARC does not pass for ${domain}`;
  }
  const passed = results.filter(({ result }) => result === 'pass');
  const isSigned = passed.some(({ method, properties }) => method === 'dkim' && isFor(properties.get('header.d')));
  const isSent = passed.some(({ method, properties }) => method === 'spf' && isFor(properties.get('smtp.mailfrom')));
  return isSigned || isSent ? null : `neither DKIM nor SPF passes for ${domain}`;
}
