import addressParser from 'nodemailer/lib/addressparser/index.js';
import { parseAuthenticationResults, type AuthResult } from './authentication-results.ts';
import { domainOf, mailAddress } from './mail-address.ts';
import { valuesOf, type MailHeaders } from './mail-headers.ts';

/** Who wrote a mail. `why`: the reason for which an address that is claimed is not believed; null when the own server vouches for it. */
export type MailSender = { address: string | null; why: string | null };

/**
 * The mail server of the mailbox. `server`: the name under which it writes `Authentication-Results`. `hops`: how many `Received` it adds; what stands
 * below the last of them may be the sender's own writing. `place`: `below` for a server that writes right below the last of its `Received`, as Gmail does:
 * it has to write it for each mail, or to remove what comes in under its name.
 */
export type OwnServer = { server: string; hops: number; place?: 'above' | 'below' };

/**
 * The sender of a mail, and whether the mail server of the mailbox vouches for the domain of its address. Only the topmost header of its name counts, and only
 * where no sender can write: a server that neither adds one nor removes what came in proves nothing.
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

/** What the own servers have added; nothing where fewer of them have left their mark than should. */
function ownPart(headers: MailHeaders, { hops, place = 'above' }: OwnServer): MailHeaders {
  const marks = headers.flatMap(({ name }, at) => (name === 'received' ? [at] : []));
  if (marks.length < hops) return [];
  return headers.slice(0, place === 'above' ? marks[hops - 1] : marks[hops]);
}

/** Before it is parsed: one of the own server that cannot be read must not let another one below count. */
const startsWithName = (value: string, server: string): boolean => value.toLowerCase().includes(server.toLowerCase());

/** DMARC decides where it was looked at; else a signature of, or the sending server's right to, the very same domain. */
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
