import fc from 'fast-check';
import { expect, test } from 'vitest';
import { headerText } from './guess-charset.ts';
import { readBody, readSubject } from './read-body.ts';

const read = (...lines: string[]) => readBody(Buffer.from(lines.join('\r\n'), 'latin1'));

test('converts HTML to text, without hidden content and remote addresses', async () => {
  const html = '<style>p{}</style><script>x()</script><p>Hello <b>you</b></p><img src="https://evil.example/pixel.png" alt="">';
  const { text } = await read('Content-Type: text/html', '', html);
  expect(text).toBe('Hello you');
});

test.each([
  ['signed', 'application/pkcs7-signature; name=smime.p7s', []],
  ['signed', 'application/pgp-signature; name=signature.asc', []],
  ['encrypted', 'application/pgp-encrypted', []],
  ['encrypted', 'application/octet-stream; name=encrypted.asc', ['encrypted.asc']],
])('omits technical parts of a mail that is %s from its files: %s', async (how, type, names) => {
  const mail = await read(
    `Content-Type: multipart/${how}; boundary=a`,
    '',
    '--a',
    '',
    'Hello',
    '--a',
    `Content-Type: ${type}`,
    'Content-Disposition: attachment',
    '',
    'x',
    '--a--',
  );
  expect([mail.text, mail.files.map(({ name }) => name)]).toEqual(['Hello', names]);
});

test('reads a mail with text, HTML, a file and an invitation', async () => {
  const mail = await read(
    'Content-Type: multipart/mixed; boundary=a',
    '',
    '--a',
    'Content-Type: multipart/alternative; boundary=b',
    '',
    '--b',
    'Content-Type: text/plain; charset=iso-8859-1',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    'gr=FC=DFe',
    '--b',
    'Content-Type: text/html',
    '',
    '<p>other</p>',
    '--b--',
    '--a',
    'Content-Type: application/ms-tnef; name="../../winmail.dat"',
    'Content-Transfer-Encoding: base64',
    '',
    'AAEC',
    '--a',
    'Content-Type: text/calendar',
    '',
    'BEGIN:VEVENT',
    'SUMMARY:Tea',
    'END:VEVENT',
    '--a--',
  );
  expect(mail).toMatchObject({ text: 'grüße', invitations: ['Invitation: Tea'], leftOut: 0 });
  expect(mail.files).toEqual([{ name: '.. .. winmail.dat', mime: 'application/ms-tnef', data: Buffer.from([0, 1, 2]) }]);
});

test.each([
  ['koi8-r', [0xf0, 0xd2, 0xc9], 'При'],
  ['windows-1252', [0x80], '€'],
  ['shift_jis', [0x82, 0xa0], 'あ'],
  ['no-such-charset', [0x41], 'A'],
])('decodes text in %s', async (charset, bytes, text) => {
  const head = Buffer.from(`Content-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: 8bit\r\n\r\n`);
  expect((await readBody(Buffer.concat([head, Buffer.from(bytes)]))).text).toBe(text);
});

test.each([
  ['no charset', ['Content-Type: text/plain', 'Content-Transfer-Encoding: 8bit'], 'Gr\xfc\xdfe, 5 \x80', 'Grüße, 5 €'],
  ['no header at all', [], 'Gr\xfc\xdfe', 'Grüße'],
  ['a charset that it is not in', ['Content-Type: text/plain; charset=us-ascii'], 'Gr\xfc\xdfe', 'Grüße'],
  ['a charset of no name', ['Content-Type: text/plain; charset=unknown-8bit'], 'Gr\xfc\xdfe', 'Grüße'],
  ['no charset, quoted', ['Content-Type: text/plain', 'Content-Transfer-Encoding: quoted-printable'], 'Gr=FC=DFe', 'Grüße'],
  ['no charset, flowed', ['Content-Type: text/plain; format=flowed'], 'Gr\xfc\xdfe \r\nund so', 'Grüße und so'],
  ['the charset in its HTML', ['Content-Type: text/html'], '<meta charset="koi8-r"><p>\xf0\xd2\xc9', 'При'],
  ['UTF-8 and a broken letter', ['Content-Type: text/plain'], 'Gr\xc3\xbc\xc3\x9fe \xfc', 'Grüße \ufffd'],
])('guesses the charset of a text with %s', async (_name, head, body, text) => {
  expect((await read(...head, '', body)).text).toBe(text);
});

test('guesses charsets only for texts that declare none, and leaves files unchanged', async () => {
  const part = (type: string, body: string) => ['--a', `Content-Type: ${type}`, '', body];
  const mail = await read(
    'Content-Type: multipart/mixed; boundary=a',
    '',
    ...part('text/plain', 'Gr\xfc\xdfe'),
    ...part('text/plain; charset=koi8-r', '\xf0\xd2\xc9'),
    ...part('text/plain; name=a.txt\r\nContent-Disposition: attachment', 'Gr\xfc\xdfe'),
    '--a--',
  );
  expect(mail.text.split(/\s+/)).toEqual(['Grüße', 'При']);
  expect(mail.files).toEqual([{ name: 'a.txt', mime: 'text/plain', data: Buffer.from('Gr\xfc\xdfe', 'latin1') }]);
});

test.each([
  ['of Windows', 'text/plain', 'filename="10 \x80 \x96 d\x92\xe9t\xe9.pdf"', '10 € – d’été.pdf'],
  ['of Windows, without quotes', 'text/plain', 'filename=\xdcber.pdf', 'Über.pdf'],
  ['as the text before it', 'text/plain; charset=koi8-r', 'filename="\xcf\xd4\xde\xc5\xd4.pdf"', 'отчет.pdf'],
  ['as the text before it, in Chinese', 'text/plain; charset=gb2312', 'filename="\xb1\xa8\xb8\xe6.pdf"', '报告.pdf'],
  ['in UTF-8', 'text/plain; charset=koi8-r', `filename="${Buffer.from('Über.pdf').toString('latin1')}"`, 'Über.pdf'],
  ['in UTF-8 with a broken letter', 'text/plain', 'filename="\xc3\x9cb\xc3\xa9r\xc3.pdf"', 'Übér?.pdf'],
])('guesses the charset of an unencoded file name: %s', async (_name, type, field, name) => {
  const mail = await read(
    'Content-Type: multipart/mixed; boundary=a',
    '',
    '--a',
    `Content-Type: ${type}`,
    '',
    'Hello',
    '--a',
    'Content-Type: application/pdf',
    `Content-Disposition: attachment;\r\n\t${field}`,
    'Content-Transfer-Encoding: base64',
    '',
    'AAEC',
    '--a--',
  );
  expect(mail).toMatchObject({ text: 'Hello', files: [{ name, data: Buffer.from([0, 1, 2]) }] });
});

test('guesses the charset of each header field separately, using that of the text', () => {
  const utf8 = Buffer.from('X-Name: Grüße, 餅餅餅\r\n');
  const bytes = (text: string) => Buffer.from(text, 'latin1');
  expect(headerText(Buffer.concat([utf8, bytes('Subject: Gr\xfc\xdfe\r\n\t\x80')]))).toBe(
    'X-Name: Grüße, 餅餅餅\r\nSubject: Grüße\r\n\t€',
  );
  expect(headerText(bytes('Subject: \xf0\xd2\xc9\r\nContent-Type: text/plain;\r\n charset="koi8-r"\r\n'))).toContain(
    'Subject: При\r',
  );
});

test('returns a mail that is only a quote, and otherwise the quote separately', async () => {
  expect(await read('', '> only this')).toMatchObject({ text: '> only this', cut: '' });
  expect(await read('', 'yes', '> really?', '-- ', 'Ann')).toMatchObject({ text: 'yes', cut: '> really?\n-- \nAnn' });
});

test('decodes a subject', async () => {
  expect(await readSubject('=?utf-8?B?w4TDpA==?=')).toBe('Ää');
});

test('reads any mail', async () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '--a',
      '--a--',
      '',
      'Content-Type: multipart/mixed; boundary=a',
      'Content-Type: message/rfc822',
      'Subject: =?x?Q?=ZZ?=',
    ),
    fc.constantFrom(
      'Content-Transfer-Encoding: base64',
      'Content-Type: text/html',
      '<p><<b',
      'Content-Type: text/calendar',
      'begin 644 x',
    ),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async (lines) => {
      const { text } = await readBody(Buffer.from(lines.join('\r\n')));
      const subject = await readSubject(lines.join(''));
      expect((text + subject).isWellFormed()).toBe(true);
    }),
  );
});
