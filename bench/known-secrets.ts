import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createRedactor } from '@svc/service-kit/redaction/redactor.ts';

/**
 * What the filter of known values costs for 64 KiB of ordinary and of hostile text, in milliseconds of the thread's own CPU time:
 *
 *     node bench/known-secrets.ts [--rounds 20]
 */
const size = 65_536;
const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } });
const rounds = Number(values.rounds);
const root = path.resolve(import.meta.dirname, '..');
const secrets = [
  'sk-svc-Zp9$kQ2"x7LmN4vB',
  'ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8',
  'hunter2hunter2',
  '4f9d8a7b6c5e4d3c2b1a0f9e8d7c6b5a',
  'пароль-это-тайна',
];
const near = secrets[0]!.replace('x', 'y');

const fill = (text: string): string => text.repeat(Math.ceil(size / text.length)).slice(0, size);
const read = (...parts: string[]): string => readFileSync(path.join(root, ...parts), 'utf8');
const base64 = (text: string): string => Buffer.from(fill(text)).toString('base64');
const randomBytes = Buffer.from(Array.from({ length: size }, (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 13) & 255));

const texts: Record<string, string> = {
  prose: read('ARCHITECTURE.md') + read('docs/redaction.md'),
  code: read('packages/service-kit/src/redaction/text-detector.ts') + read('packages/service-kit/src/redaction/open-place.ts'),
  'code in JSON': JSON.stringify(read('packages/service-kit/src/redaction/open-place.ts')),
  'prose in German': 'Größe ärgerlich für alle Übungen, und dann noch mehr davon. ',
  'prose in Russian': 'Это обычный текст, в котором нет никаких тайн. ',
  'random base64': randomBytes.toString('base64'),
  'random hex': randomBytes.toString('hex'),
  backslashes: '\\',
  '%25%25': '%25',
  '&&&&': '&',
  '\\u005c': '\\u005c',
  'z and line ends': 'z\n',
  'base32 that is hex': 'A2B3C4D5E6F7',
  'base64 of zeros': 'A',
  'base64 of backslashes': base64('\\'),
  'base64 of %25%25': base64('%25'),
  'hex of \\u005c': Buffer.from(fill('\\u005c')).toString('hex'),
  'near misses': near,
  'near misses in JSON in JSON': JSON.stringify(JSON.stringify(near)),
  'near misses in base64': base64(near),
  'values only': secrets[0]!,
};

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

function measure(work: () => unknown): string {
  for (let i = 0; i < rounds / 2; i++) work();
  const since = cpuMs();
  for (let i = 0; i < rounds; i++) work();
  return ((cpuMs() - since) / rounds).toFixed(2).padStart(8);
}

const redactor = createRedactor(secrets);
console.log(`${'64 KiB of'.padEnd(30)}      ms`);
for (const [name, text] of Object.entries(texts)) {
  const whole = fill(text);
  console.log(`${name.padEnd(30)}${measure(() => redactor.known(whole))}`);
}

const letters = Array.from(fill(texts['code']!).repeat(16));
const since = cpuMs();
const stream = redactor.stream();
for (const letter of letters) stream.push(letter);
stream.end();
console.log(`1 MiB of code in pushes of one character: ${(cpuMs() - since).toFixed(0)} ms`);
