import { date, lines, mailbox } from './corpus-mail.ts';
import { wordsInCharsets, type CharsetWords } from './words-in-charsets.ts';

/** A mail as its sender writes it. */
export type Written = { raw: Buffer; says?: string };
type Random = () => number;

const pick = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;

/** A person's mail: any charset, encoding and structure, with the fields that programs add. Deterministic for the same numbers. */
export function ordinaryMail(random: Random, from: string, id: string): Written {
  const words = pick(random, wordsInCharsets);
  const header = [
    ...fieldsOfPrograms(random),
    `From: ${nameBefore(random, words)}<${from}>`,
    pick(random, [
      `To: ${mailbox}`,
      `To: "Bot" <${mailbox}>, "Eve, too" <eve@elsewhere.example>`,
      `To: undisclosed-recipients:;`,
    ]),
    ...pick(random, [[], [`Cc: a group: eve@elsewhere.example, bob@elsewhere.example;`], ['Bcc:']]),
    `Subject: ${subjectOf(random, words)}`,
    ...pick(random, [
      [`Message-ID: <${id}@friend.example>`],
      [`Message-Id:\r\n <${id}@friend.example>`],
      [`MESSAGE-ID: <${id}@[192.0.2.1]>`],
    ]),
    `Date: ${pick(random, [date, '23 Nov 26 10:00 GMT', 'Mon, 23 Nov 2026 10:00:00 -0000 (a comment)', 'yesterday', 'Fri, 31 Dec 2099 23:59:60 +0000'])}`,
    'MIME-Version: 1.0 (made by hand)',
  ];
  return { raw: Buffer.concat([lines(...header), structure(random, words)]), says: words.text };
}

const encodings = ['7bit', '8bit', 'quoted-printable', 'base64'] as const;

function encoded(random: Random, bytes: Buffer): { name: string; body: Buffer } {
  const isPlain = bytes.every((byte) => byte < 128);
  const name = pick(random, encodings.slice(isPlain ? 0 : 1));
  if (name === 'base64') return { name, body: Buffer.from(bytes.toString('base64').replaceAll(/(.{60})/g, '$1\r\n')) };
  if (name !== 'quoted-printable') return { name, body: bytes };
  const quoted = [...bytes].map((byte) =>
    byte === 13 || byte === 10 || (byte >= 32 && byte < 127 && byte !== 61)
      ? String.fromCharCode(byte)
      : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`,
  );
  return { name, body: Buffer.from(quoted.join('').replaceAll(/((?:=..|[^\r\n=]){70,72})(?=.)/g, '$1=\r\n')) };
}

function part(random: Random, type: string, charset: string, bytes: Buffer): Buffer {
  const { name, body } = encoded(random, bytes);
  const said = pick(random, [
    `charset=${charset}`,
    `charset="${charset}"`,
    `Charset = "${charset}"`,
    `charset=${charset}; format=flowed`,
  ]);
  return lines(`Content-Type: ${type}; ${said}`, `Content-Transfer-Encoding: ${name}`, '', body);
}

const text = (random: Random, { charset, bytes }: CharsetWords): Buffer =>
  part(
    random,
    'text/plain',
    charset,
    Buffer.concat([Buffer.from('Shall we eat? '), bytes, Buffer.from('\r\n\r\n-- \r\nAnn\r\n')]),
  );
const html = (random: Random, { charset, bytes }: CharsetWords): Buffer =>
  part(
    random,
    'text/html',
    charset,
    Buffer.concat([
      Buffer.from('<html><style>p{color:red}</style><body><p>Shall we eat? <b>'),
      bytes,
      Buffer.from('</b><img src="https://tracker.example/x.gif"></p><script>alert(1)</script></body></html>'),
    ]),
  );
const file = (name: string, type: string, content: string): Buffer =>
  lines(
    `Content-Type: ${type}; name="${name}"`,
    `Content-Disposition: attachment; filename="${name}"`,
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(content).toString('base64'),
  );

function multipart(random: Random, kind: string, parts: readonly Buffer[]): Buffer {
  const mark = `=_${random().toString(36).slice(2)}=`;
  return Buffer.concat([
    lines(`Content-Type: multipart/${kind}; boundary="${mark}"`, '', 'This is a mail of several parts.'),
    ...parts.flatMap((one) => [lines(`--${mark}`), one]),
    lines(`--${mark}--`, 'Nobody reads this.'),
  ]);
}

function structure(random: Random, words: CharsetWords): Buffer {
  const body = () => multipart(random, 'alternative', [text(random, words), html(random, words)]);
  const shapes: (() => Buffer)[] = [
    () => text(random, words),
    () => text(random, words),
    () => html(random, words),
    body,
    () => multipart(random, 'mixed', [text(random, words), file('notes.txt', 'text/plain', 'Milk')]),
    () =>
      multipart(random, 'mixed', [
        body(),
        file('räksmörgås 餅.pdf', 'application/pdf', '%PDF-1.4'),
        file('winmail.dat', 'application/ms-tnef', 'x>Ÿ"'),
      ]),
    () => multipart(random, 'related', [html(random, words), file('cat.png', 'image/png', 'PNG')]),
    () =>
      multipart(random, 'mixed', [
        multipart(random, 'related', [body(), file('logo.gif', 'image/gif', 'GIF89a')]),
        file('a.zip', 'application/zip', 'PK'),
      ]),
    () =>
      multipart(random, 'signed; micalg=pgp-sha256; protocol="application/pgp-signature"', [
        text(random, words),
        file('signature.asc', 'application/pgp-signature', '-----BEGIN'),
      ]),
    () =>
      multipart(random, 'mixed', [
        text(random, words),
        lines('Content-Type: message/rfc822', '', 'From: eve@elsewhere.example', 'Subject: Before', '', 'What was said.'),
      ]),
  ];
  return pick(random, shapes)();
}

const encodedWord = ({ charset, bytes }: CharsetWords, kind: 'B' | 'Q' | 'b'): string =>
  `=?${charset}?${kind}?${kind === 'Q' ? [...bytes].map((byte) => `=${byte.toString(16).padStart(2, '0').toUpperCase()}`).join('') : bytes.toString('base64')}?=`;

function nameBefore(random: Random, words: CharsetWords): string {
  return pick(random, [
    '',
    'Ann ',
    '"Ann, of Friends" ',
    '"Ann \\"A\\" Friend" ',
    'Ann (of the friends) ',
    `${encodedWord(words, 'B')} `,
    `${encodedWord(words, 'Q')}\r\n `,
    `"${encodedWord(words, 'b')}" `,
  ]);
}

function subjectOf(random: Random, words: CharsetWords): string {
  return pick(random, [
    'Lunch',
    encodedWord(words, 'B'),
    `Lunch ${encodedWord(words, 'Q')}\r\n ${encodedWord(words, 'B')}`,
    `=?utf-8*en?Q?Lunch_today?=`,
    '',
    'Re: AW: Fwd: Re[2]: Lunch',
    `${'very '.repeat(60)}long`,
    `Lunch\r\n\ttoday\r\n and tomorrow`,
  ]);
}

const fieldsOfPrograms = (random: Random): string[] =>
  pick(random, [
    [],
    ['X-Mailer: Microsoft Outlook 16.0', 'Thread-Index: AdCafe==', 'X-MS-Has-Attach:'],
    ['DKIM-Signature: v=1; a=rsa-sha256; d=friend.example; s=one;\r\n\th=from:to; bh=abc=;\r\n\tb=def='],
    ['User-Agent: Mutt/2.2', 'Content-Language: en', 'Importance: high', 'X-Priority: 1 (Highest)'],
    ['X-Spam-Status: No, score=-1.0\r\n\ttests=[A=1,\r\n\tB=2]', 'Received: from here by there; yesterday'],
    ['Auto-Submitted: no', 'Precedence: first-class', 'Comments: (((nested) comments) here)'],
    [
      'References: <r1@friend.example>\r\n <r2@friend.example>\t<r3@friend.example>',
      'In-Reply-To: "Your mail" <r3@friend.example>',
    ],
  ]);
