import { date, mailbox, ownServer, stamp, type CorpusMail } from './corpus-mail.ts';

/** The person that all of them claim to be, who is let in. */
export const victim = 'ann@friend.example';
const mallory = 'mallory@evil.example';

type Spoof = {
  /** The fields of its sender. */
  from: readonly string[];
  /** The authentication results of our server; by default those of a stranger's mail. */
  results?: string;
  /** The fields that the sender can set. */
  below?: readonly string[];
  /** Without the results of our server. */
  isUnstamped?: boolean;
};

const honest = [`From: Ann <${victim}>`];
const fail = 'dmarc=fail header.from=friend.example; spf=pass smtp.mailfrom=evil.example; dkim=pass header.d=evil.example';
const strangers = (domain: string): string =>
  `dmarc=pass header.from=${domain}; spf=pass smtp.mailfrom=${domain}; dkim=pass header.d=${domain}`;
const forged = `Authentication-Results: ${ownServer}; dmarc=pass header.from=friend.example`;

/** Mails that pretend to be from `victim`. */
const spoofs: Readonly<Record<string, Spoof>> = {
  'a forged From': { from: honest, results: fail },
  'a forged From, of which nobody says anything': { from: honest, isUnstamped: true },
  'results of our server, written by the sender': { from: honest, isUnstamped: true, below: [forged] },
  'results of our server, written by the sender below ours': { from: honest, results: fail, below: [forged] },
  'results of our server in capitals below ours': { from: honest, results: fail, below: [forged.toUpperCase()] },
  'results of another server': { from: honest, isUnstamped: true, below: [forged.replace(ownServer, 'mx.evil.example')] },
  'results of a server whose name begins as ours': {
    from: honest,
    isUnstamped: true,
    below: [forged.replace(ownServer, `${ownServer}.evil.example`)],
  },
  'results with our name in a comment': {
    from: honest,
    isUnstamped: true,
    below: [forged.replace(ownServer, `mx.evil.example (${ownServer})`)],
  },
  'results of our server below a Received of the sender': {
    from: honest,
    isUnstamped: true,
    below: [forged, `Received: from x by ${ownServer}; ${date}`, forged],
  },
  'a pass of the sender within what our server says': {
    from: honest,
    results:
      'spf=fail smtp.mailfrom="x; dmarc=pass header.from=friend.example"@evil.example; dmarc=fail header.from=friend.example',
  },
  'a pass within a comment': {
    from: honest,
    results: 'dmarc=fail (dmarc=pass header.from=friend.example) header.from=friend.example',
  },
  'DKIM of another domain': { from: honest, results: 'dkim=pass header.d=evil.example header.i=ann@friend.example' },
  'DKIM of a domain below': { from: honest, results: 'dkim=pass header.d=mail.friend.example' },
  'DKIM of a domain that ends as theirs': { from: honest, results: 'dkim=pass header.d=notfriend.example' },
  'SPF of another envelope': { from: honest, results: 'spf=pass smtp.mailfrom=evil.example smtp.helo=friend.example' },
  'a claim by ARC': {
    from: honest,
    results: 'arc=pass; dmarc=fail header.from=friend.example',
    below: [
      `ARC-Authentication-Results: i=1; ${ownServer}; dmarc=pass header.from=friend.example`,
      'ARC-Seal: i=1; cv=none; d=evil.example',
    ],
  },
  'two From fields, theirs last': { from: [`From: <${mallory}>`, ...honest], results: strangers('evil.example') },
  'two From fields, theirs first': { from: [...honest, `From: <${mallory}>`], results: strangers('evil.example') },
  'two addresses in From': { from: [`From: <${victim}>, <${mallory}>`], results: strangers('friend.example') },
  'a group in From': { from: [`From: ${victim}: <${mallory}>;`], results: strangers('evil.example') },
  'their address as display name': { from: [`From: "${victim}" <${mallory}>`], results: strangers('evil.example') },
  'their address as encoded display name': {
    from: [`From: =?utf-8?B?${Buffer.from(`Ann <${victim}>`).toString('base64')}?= <${mallory}>`],
    results: strangers('evil.example'),
  },
  'their address in an encoded word alone': {
    from: [`From: =?utf-8?B?${Buffer.from(`<${victim}>`).toString('base64')}?=`],
    results: strangers('friend.example'),
  },
  'their address in a comment': { from: [`From: ${mallory} (${victim})`], results: strangers('evil.example') },
  'a quoted address before another': { from: [`From: "${victim}"@evil.example`], results: strangers('evil.example') },
  'a domain that looks alike': { from: ['From: Ann <ann@frıend.example>'], results: strangers('frıend.example') },
  'a domain that looks alike in Punycode': {
    from: ['From: Ann <ann@xn--frend-q4a.example>'],
    results: strangers('xn--frend-q4a.example'),
  },
  'a domain with a dot at its end': { from: ['From: Ann <ann@friend.example.>'], results: strangers('friend.example.') },
  'a Sender and a Reply-To': {
    from: [
      `From: <${mallory}>`,
      `Sender: ${victim}`,
      `Reply-To: ${victim}`,
      `X-Original-From: ${victim}`,
      `Return-Path: <${victim}>`,
    ],
    results: strangers('evil.example'),
  },
  'a From that is hidden by its whitespace': {
    from: [`From : ${victim}`, `From: <${mallory}>`],
    results: strangers('evil.example'),
  },
};

export const spoofedMails = (): CorpusMail[] =>
  Object.entries(spoofs).map(([name, { from, results, below = [], isUnstamped = false }], n) => {
    const ours = isUnstamped ? stamp('').replace(/^Authentication-Results: .*\r\n/, '') : stamp(results ?? fail);
    const said = [...below, ...from, `To: ${mailbox}`, 'Subject: Lunch', `Message-ID: <s${n}@evil.example>`, `Date: ${date}`];
    return {
      name,
      from: victim,
      envelopeFrom: mallory,
      raw: () => Buffer.from(`${ours}${said.join('\r\n')}\r\n\r\nPay the bill.\r\n`),
      fate: { never: /./ },
    };
  });
