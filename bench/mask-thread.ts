import { parseArgs } from 'node:util';
import { systemClock } from '@svc/service-kit/clock.ts';
import { tableOf } from '@svc/service-kit/redaction/detection.ts';
import { textInSlices } from '@svc/service-kit/redaction/in-slices.ts';
import { createKnownSecrets } from '@svc/service-kit/redaction/known-secrets.ts';
import { hostileTexts, ordinaryTexts, type SampleText } from '@svc/testing/hostile-texts.ts';

/**
 * What masking a long text costs the main thread, in CPU time, while the thread of the mask does the work:
 * `node bench/mask-thread.ts [--kib 1024] [--most 12]`.
 */
const { values } = parseArgs({
  options: { kib: { type: 'string', default: '1024' }, most: { type: 'string', default: '12' } },
});
const length = Number(values.kib) * 1024;
const known = createKnownSecrets(
  { values: ['known-secret-4711-abcdefgh'], env: {}, secretsFile: '/nowhere', instancesDir: '/nowhere' },
  systemClock,
  () => undefined,
);
const texts = [...ordinaryTexts, ...hostileTexts(tableOf('public').rules)];

try {
  for (const text of texts) await measure(text); // starts the thread, and compiles what is used
  const results = [];
  for (const text of texts) results.push(await measure(text));
  const sorted = results.toSorted((a, b) => b.mainMs - a.mainMs);
  print(`${texts.length} texts of ${values.kib} KiB: ms of the main thread per 64 KiB, of all, and on the clock`);
  for (const result of sorted.slice(0, Number(values.most))) show(result);
  print(`median ${per64(sorted[sorted.length >> 1]?.mainMs ?? 0).toFixed(2)}`);
} finally {
  await known.close();
}

async function measure({ name, of }: SampleText) {
  const text = of(length);
  const began = performance.now();
  const before = process.threadCpuUsage();
  await textInSlices(known.redactor(), text);
  const { user, system } = process.threadCpuUsage(before);
  return { name, mainMs: (user + system) / 1000, wallMs: performance.now() - began };
}

function show({ name, mainMs, wallMs }: Awaited<ReturnType<typeof measure>>): void {
  print(`${per64(mainMs).toFixed(2).padStart(6)} ${mainMs.toFixed(1).padStart(7)} ${wallMs.toFixed(0).padStart(6)}  ${name}`);
}

function per64(ms: number): number {
  return (ms * 65_536) / length;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
