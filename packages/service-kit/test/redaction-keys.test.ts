import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';
import { talkOfKeys } from './fixtures/talk-of-keys.ts';

const redactor = createRedactor([]);
const through = (text: string, size: number): string => {
  const stream = redactor.stream();
  let out = '';
  for (let at = 0; at < text.length; at += size) out += stream.push(text.slice(at, at + size));
  return out + stream.end();
};

describe('replies that talk about keys', () => {
  test('are unchanged, all of at least 200', () => {
    expect(talkOfKeys.length).toBeGreaterThanOrEqual(200);
    expect(talkOfKeys.filter((text) => redactor.text(text) !== text)).toEqual([]);
  });

  test('are unchanged in a stream with chunks of any size', () => {
    expect(talkOfKeys.filter((text, i) => through(text, 1 + (i % 9)) !== text)).toEqual([]);
  });
});

const pem = (key: KeyObject, type: 'pkcs8' | 'pkcs1' | 'sec1', passphrase?: string): string =>
  String(
    key.export({ format: 'pem', type, ...(passphrase === undefined ? {} : { cipher: 'aes-256-cbc', passphrase }) } as never),
  );
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const ed = generateKeyPairSync('ed25519').privateKey;
const keys: readonly [name: string, pem: string][] = [
  ['PKCS#8 of RSA', pem(rsa, 'pkcs8')],
  ['PKCS#1', pem(rsa, 'pkcs1')],
  ['encrypted PKCS#1', pem(rsa, 'pkcs1', 'a passphrase')],
  ['encrypted PKCS#8', pem(rsa, 'pkcs8', 'a passphrase')],
  ['SEC1', pem(ec, 'sec1')],
  ['PKCS#8 of EC', pem(ec, 'pkcs8')],
  ['Ed25519', pem(ed, 'pkcs8')],
  ['OpenSSH', pem(rsa, 'pkcs8').replaceAll('PRIVATE', 'OPENSSH PRIVATE')],
  [
    'PGP',
    pem(rsa, 'pkcs8').replaceAll('PRIVATE KEY', 'PGP PRIVATE KEY BLOCK').replace('\n', '\nVersion: GnuPG v2\nComment: mine\n\n'),
  ],
];

const numbered = (text: string, mark: (number: number) => string): string =>
  text
    .split('\n')
    .map((line, at) => mark(at + 8) + line)
    .join('\n');

const forms: readonly [name: string, form: (pem: string) => string][] = [
  ['as it is', (text) => text],
  ['with CRLF', (text) => text.replaceAll('\n', '\r\n')],
  ['on one line with escapes', (text) => text.replaceAll('\n', String.raw`\n`)],
  ['on one line with spaces', (text) => text.replaceAll('\n', ' ')],
  ['on one line without anything', (text) => text.replaceAll('\n', '')],
  ['indented', (text) => text.replaceAll(/^/gm, '      ')],
  ['quoted', (text) => text.replaceAll(/^/gm, '> ')],
  ['quoted twice', (text) => text.replaceAll(/^/gm, '> > ')],
  ['in a diff, added', (text) => text.replaceAll(/^/gm, '+')],
  ['in a diff, removed', (text) => text.replaceAll(/^/gm, '-')],
  ['in a comment', (text) => text.replaceAll(/^/gm, '# ')],
  ['in JSON', (text) => JSON.stringify({ private_key: text, client: 'x' }, null, 2)],
  ['in JSON in JSON', (text) => JSON.stringify({ body: JSON.stringify({ private_key: text }) })],
  ['in YAML', (text) => `tls:\n  key: |\n${text.replaceAll(/^/gm, '    ')}`],
  ['in an env file', (text) => `TLS_KEY="${text.trim().replaceAll('\n', String.raw`\n`)}"\nPORT=3000\n`],
  [
    'as strings of code',
    (text) =>
      text
        .trim()
        .split('\n')
        .map((line) => `  "${line}\\n"`)
        .join(' +\n'),
  ],
  ['wrapped in 40 columns', (text) => text.replaceAll(/(^[A-Za-z0-9+/=]{40})(?=.)/gm, '$1\n')],
  ['in a table', (text) => text.replaceAll(/^(.*)$/gm, '| $1 |')],
  ['in lines of HTML', (text) => text.replaceAll('\n', '<br>\n')],
  ['in one line of HTML', (text) => text.replaceAll('\n', '<br />')],
  ['in paragraphs', (text) => text.replaceAll(/^(.+)$/gm, '<p class="line">$1</p>')],
  ['quoted in HTML', (text) => text.replaceAll(/^/gm, '&gt; ')],
  ['with entities for line ends', (text) => text.replaceAll('\n', '&#10;')],
  ['with line numbers', (text) => numbered(text, (number) => `${number}: `)],
  ['with the line numbers of grep', (text) => numbered(text, (number) => `${number}:`)],
  ['with the line numbers of cat', (text) => numbered(text, (number) => `${String(number).padStart(6)}\t`)],
  ['with line numbers in a margin', (text) => numbered(text, (number) => `${String(number).padStart(3)} │ `)],
  ['in a log', (text) => numbered(text, (number) => `2026-11-22T10:00:0${number % 10}.123Z app[12]: INFO `)],
  ['in lines of JSON', (text) => text.replaceAll(/^(.*)$/gm, '{"level":30,"msg":"$1"}')],
  ['in the log of a container', (text) => text.replaceAll(/^/gm, 'web-1  | ')],
  ['with a character that nobody sees at each line', (text) => text.replaceAll(/^/gm, '\u200B').replaceAll('\n', '\u200B\n')],
  ['with spaces that do not break', (text) => text.replaceAll(/^/gm, '\u00A0\u00A0')],
  ['in bold', (text) => text.replaceAll(/^(.+)$/gm, '**$1**')],
  ['percent-encoded', (text) => encodeURIComponent(text)],
  ['as a form', (text) => new URLSearchParams({ key: text }).toString()],
];

/** The parts of a key's body that must not remain. */
const bodyParts = (text: string): string[] =>
  text
    .split('\n')
    .filter((line) => /^[A-Za-z0-9+/=]{4,}$/.test(line))
    .map((line) => line.slice(0, 20).split(/[+/=]/)[0] ?? '')
    .filter((part) => part.length >= 4);

describe.each(keys)('private key (%s)', (_name, key) => {
  test.each(forms)('%s is masked completely, and the text around it stays', (_form, form) => {
    const text = `Here it is:\n${form(key)}\nKeep it, and write to me when 2 of the 3 hosts have it.`;
    const masked = redactor.text(text);
    expect(bodyParts(key).filter((part) => masked.includes(part))).toEqual([]);
    expect(masked).toContain('[redacted:private-key]');
    expect(masked).toMatch(/^Here it is:\n/);
    expect(masked).toContain('\nKeep it, and write to me when 2 of the 3 hosts have it.');
    expect(through(text, 7)).toBe(masked);
    expect(redactor.text(masked)).toBe(masked);
  });

  test.each(forms)('%s, cut off in the middle, is masked to the cut', (_form, form) => {
    const whole = form(key);
    const cut = whole.slice(0, Math.floor(whole.length * 0.75));
    const parts = bodyParts(key);
    for (const text of [cut, `${cut}\n\nThe rest was lost, sorry.`]) {
      const masked = redactor.text(text);
      expect(parts.filter((part) => masked.includes(part))).toEqual([]);
      expect(through(text, 5)).toBe(masked);
    }
    expect(redactor.text(`${cut}\n\nThe rest was lost, sorry.`)).toContain('The rest was lost, sorry.');
  });
});
