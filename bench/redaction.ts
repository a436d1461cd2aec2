import { parseArgs } from 'node:util';
import { tableOf } from '@svc/service-kit/redaction/detection.ts';
import { createRedactor, type Redactor } from '@svc/service-kit/redaction/redactor.ts';
import { hostileTexts, ordinaryTexts, type SampleText } from '@svc/testing/hostile-texts.ts';

/**
 * What redaction costs over ordinary and hostile texts: `node bench/redaction.ts [--kib 64] [--only <part of a name>]
 * [--secrets 20] [--limit 2]`. Ways that cost more than `--limit` ms per 64 KiB are printed one by one.
 */
const { values } = parseArgs({
  options: {
    kib: { type: 'string', default: '64' },
    only: { type: 'string', default: '' },
    ways: { type: 'string', default: '' },
    secrets: { type: 'string', default: '20' },
    limit: { type: 'string', default: '2' },
  },
});
const length = Number(values.kib) * 1024;
const limit = Number(values.limit);
/** A way that takes longer is not tried to its end: what it did by then is counted. */
const patienceMs = 4000;

type Run = { ms: number; units: number; freeze: number };

const redactor = createRedactor(Array.from({ length: Number(values.secrets) }, (_, i) => `known-secret-${i}-/+ä-${i * 7919}`));
const pushed =
  (from: Redactor, size: number) =>
  (text: string): Run =>
    inPushes(from, text, size);
const ways: readonly [name: string, run: (text: string) => Run][] = [
  ['private, whole', whole((text) => redactor.text(text))],
  ['private, by 7', pushed(redactor, 7)],
  ['private, by 1', pushed(redactor, 1)],
  ['public, whole', whole((text) => redactor.forPublic.text(text))],
  ['public, by 7', pushed(redactor.forPublic, 7)],
  ['public, by 1', pushed(redactor.forPublic, 1)],
  ['log', whole((text) => redactor.logLine(text))],
];

for (const [, run] of ways) for (const text of ordinaryTexts) run(text.of(16_384)); // compiles what is used every day
measure('ordinary', ordinaryTexts);
measure('hostile', hostileTexts(tableOf('public').rules));

function measure(title: string, texts: readonly SampleText[]): void {
  print(`\n${title} texts of ${values.kib} KiB, ms per 64 KiB`);
  for (const [name, run] of ways.filter(([way]) => way.includes(values.ways))) {
    const results = texts.filter((text) => text.name.includes(values.only)).map((text) => measureOne(text, run));
    const sorted = results.toSorted((a, b) => b.per64 - a.per64);
    const middle = sorted[Math.floor(sorted.length / 2)]?.per64 ?? 0;
    const freeze = Math.max(...results.map((result) => result.freeze));
    print(`${name.padEnd(16)} median ${ms(middle)}  worst ${ms(sorted[0]?.per64 ?? 0)}  longest call ${ms(freeze)}`);
    for (const slow of sorted.filter(({ per64 }) => per64 > limit)) print(`    ${ms(slow.per64)}  ${slow.name}`);
  }
}

function measureOne({ name, of }: SampleText, run: (text: string) => Run) {
  run(of(2048));
  // What others do on the machine, and what is compiled on the way, is not the text's own cost.
  const results = [run(of(length)), run(of(length)), run(of(length))];
  const result = results.toSorted((a, b) => a.ms - b.ms)[0] ?? { ms: 0, units: 1, freeze: 0 };
  return { name, per64: (result.ms * 65_536) / result.units, freeze: result.freeze };
}

function inPushes(from: Redactor, text: string, size: number): Run {
  const stream = from.stream();
  const began = performance.now();
  let freeze = 0;
  let last = began;
  let at = 0;
  while (at < text.length && last - began < patienceMs) {
    // The clock costs more than a short push.
    for (const until = at + 64 * size; at < until; at += size) stream.push(text.slice(at, at + size));
    const now = performance.now();
    freeze = Math.max(freeze, now - last);
    last = now;
  }
  stream.end();
  const end = performance.now();
  return { ms: end - began, units: Math.min(at, text.length), freeze: Math.max(freeze, end - last) };
}

function whole(mask: (text: string) => string): (text: string) => Run {
  return (text) => {
    const began = performance.now();
    mask(text);
    const took = performance.now() - began;
    return { ms: took, units: text.length, freeze: took };
  };
}

function ms(value: number): string {
  return value.toFixed(value < 10 ? 2 : 0).padStart(6);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
