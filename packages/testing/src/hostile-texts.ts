import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

/** An ordinary text, or one made to take as much time as possible. */
export type SampleText = { name: string; of(length: number): string };

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

const filled = (part: string, length: number): string => part.repeat(Math.ceil(length / part.length)).slice(0, length);
const repeated = (name: string, part: string): SampleText => ({ name, of: (length) => filled(part, length) });
const made = (name: string, make: () => string): SampleText => ({ name, of: (length) => filled(make(), length) });

const digest = (i: number): string => createHash('sha512').update(String(i)).digest('base64');
const lines = (count: number, line: (i: number) => string): string => Array.from({ length: count }, (_, i) => line(i)).join('\n');

/** Ordinary texts of people, models and tools. */
export const ordinaryTexts: readonly SampleText[] = [
  made('prose', () => read('docs/trust.md') + read('docs/running.md')),
  made('code', () => read('apps/core/src/events.ts') + read('packages/service-kit/src/telemetry/create-telemetry.ts')),
  made('logs', () =>
    lines(
      2000,
      (i) =>
        `{"level":30,"time":17321${i}5512,"service":"core","turn":"t_${digest(i).slice(0, 12)}","ms":${i},"msg":"turn ended"}`,
    ),
  ),
  made('json', () => read('package-lock.json')),
  made('image in base64', () => `![a](data:image/png;base64,${Array.from({ length: 800 }, (_, i) => digest(i)).join('')})\n`),
  made('minified script', () => read('node_modules/re2js/build/index.umd.js').replaceAll(/\s+/g, ' ')),
  repeated('Chinese', '服务器在收到请求之后会先检查权限，然后把消息交给引擎处理。\n'),
  made('table', () => lines(2000, (i) => `| ${i} | eu-west-${i % 3} | 10.${i % 250}.0.1 | ${(i * 7919) % 100} % | ok |`)),
];

type Rules = readonly { readonly triggers: readonly { readonly words: readonly string[] }[] }[];

/** Words at which rules begin to match. */
const wordsOf = (rules: Rules): string[] => [...new Set(rules.flatMap(({ triggers }) => triggers.flatMap(({ words }) => words)))];

/** Parts that keep places open, begin tokens and values without an end, or call many rules. */
const parts = [
  'z',
  'z\n',
  '\n「メ',
  '日\n',
  'ab\n',
  'ab\n\t\t',
  ' ',
  '\n',
  '\r\n',
  '.',
  '"',
  '=',
  '\\',
  '\\n',
  '-',
  'A1',
  'a1b2c3d4e5f6.',
  'key',
  'key=',
  'key="',
  'key: ',
  'api_key=',
  'secret token key ',
  'password=a ',
  'password: "aB3$xY9&" ',
  'token = A1b2C3d4E5f6G7h8I9j0\n',
  'token=token=',
  'secret,secret,',
  '"apiKey": {"key": [',
  'key    :    ',
  'authorization: ',
  'Authorization: Bearer ',
  'bearer ',
  'cookie: a=1;',
  'cookie: ',
  'a=aaaaaaa1;',
  'kind: secret\n',
  'kind: secret\na: aaaaaaaa\n',
  '-----BEGIN ',
  '-----BEGIN PRIVATE KEY-----',
  '-----BEGIN PRIVATE KEY-----\n',
  '-----BEGIN PRIVATE KEY-----\nMIIE\n',
  '-----BEGIN PRIVATE KEY-----\nMIIE.-----END PRIVATE KEY-----',
  'private key-----',
  '-----END ',
  'http://',
  'http://a:',
  'http://a:b',
  'http://a:b@',
  'http://a:b1c2d3@h/',
  '://',
  'a://b:c',
  'https://a.b/?token=',
  'https://a.b/?token=A1b2C3d4E5f6G7h8I9j0&',
  '?key=',
  '![',
  '![](',
  '![a](http://',
  '[![',
  '![[[[[]]]]',
  ']: http://a ',
  '<img ',
  '<img src=',
  '<img src=//a',
  'url(',
  'url(//a ',
  'eyJ',
  'ey',
  'eyJhbGciOiJIUzI1NiJ9.',
  'zxlk',
  'ZXlK',
  'sk-',
  'sk-ant-api03-',
  'sk-proj-',
  'ghp_',
  'xoxb-1',
  'AKIA',
  'AIza',
  'hf_',
  'sg.',
  'dapi',
  ':aa',
  '12345678:AA',
  'MTIzNDU2Nzg5MDEyMzQ1Njc4.',
  '0',
  '1 ',
  '4111 ',
  '4111-1111-1111-',
  '+1 ',
  '+',
  '(',
  '(555) 123-',
  '0171 ',
  '10.',
  '10.0.0.',
  '192.168.1.1:',
  'fd00:',
  'a@',
  'a@b.',
  'é@',
  'é',
  'é@é.',
  'a%é@é.éé/',
  '日@',
  '日@日.',
  '日.日@日.中国',
  '日a.日a%日@日.中国/',
  '＠',
  '1日',
  '" ',
  '"a ',
  '"a b"@',
  '"a \\"b\\"@a.',
  '\\"@',
  '//a:',
  'a.',
  '.local',
  'a.local.',
  'localhost:',
  '/home/a/',
  '/root/',
  'c:\\users\\',
  'www.',
  ' -u ',
  ' -u a:b',
  ' --user=',
  '/:_auth=',
  ';pwd=',
  ';password=a',
  'accountkey=',
  'account_id',
  'op://',
  '[redacted:',
  '[redacted:secret]',
  '日',
  '日本 key=',
  '\ud800',
] as const;

/** Texts made only to take time. `rules`: the rules whose words are combined. */
export function hostileTexts(rules: Rules): SampleText[] {
  const words = wordsOf(rules);
  return [
    ...parts.map((part) => repeated(JSON.stringify(part), part)),
    made('all words', () => words.join(' ')),
    made('all words in a row', () => words.join('')),
    made('all words, assigned', () => words.map((word) => `${word}=`).join('')),
    made('all words, quoted', () => words.map((word) => `"${word}": "`).join('')),
    made('all words with a value', () => words.map((word, i) => `${word} = "${digest(i).slice(0, 40)}"\n`).join('')),
    made('all words, begun', () => words.map((word, i) => `${word}${digest(i).replaceAll(/\W/g, '').slice(0, 48)} `).join('')),
    made('all words in one run', () =>
      words.map((word, i) => `${word}_${digest(i).replaceAll(/\W/g, '').slice(0, 8)}`).join('.'),
    ),
    made('all beginnings of words', () => words.flatMap((word) => Array.from(word, (_, i) => word.slice(0, i + 1))).join(' ')),
  ];
}
