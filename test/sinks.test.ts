import { expect, test } from 'vitest';
import { read, sourcesOf } from './repository.ts';

/**
 * Every output of the service is masked: responses in `createApp`, frames by the type of what they take, events in the serializer of telemetry.
 * Outputs that can bypass this are listed here, each with its reason: a new one has to be added by hand.
 */
const sources = ['core', 'manager', 'collector', 'vault']
  .map((app) => `apps/${app}/src`)
  .concat('packages/service-kit/src')
  .flatMap(sourcesOf)
  .filter((file) => !file.endsWith('.test.ts'));

/** The files with an expression, and what it names there. */
const found = (pattern: RegExp): Record<string, string[]> =>
  Object.fromEntries(
    sources.flatMap((file) => {
      const matches = [...read(file).matchAll(pattern)].map(([whole, named]) => named ?? whole);
      return matches.length === 0 ? [] : [[file, matches]];
    }),
  );

test('every route that answers with bytes declares what it sends', () => {
  expect(found(/sendsBytes: '([^']+)'/g)).toEqual({
    'apps/core/src/api-key/api-key-routes.ts': ['a key that was just made, for who made it'],
    'apps/core/src/backup/backup-routes.ts': ['the archive'],
    'apps/core/src/silo/silo-routes.ts': ['the file that was stored'],
    'apps/core/src/speech/speech-routes.ts': ['speech; the text was masked before it was spoken'],
    'apps/core/src/upload/upload-routes.ts': ['the file that was uploaded', 'the file'],
    'apps/core/src/vault/vault-agent-routes.ts': ['the key of a reader that was just added, for who added it'],
  });
});

test('responses that bypass hooks are written as masked frames only', () => {
  expect(Object.keys(found(/\.hijack\(\)|openSse\(/g))).toEqual([
    'apps/core/src/degraded-core.ts', // frames of `sseFrame`
    'apps/core/src/feed/feed-routes.ts', // lines of telemetry
    'apps/core/src/turn/stream-turn.ts', // frames of `sseFrame`
    'apps/core/src/watch/watch-routes.ts', // frames of the ring, which are masked when written
    'apps/collector/src/feed/mount-feed.ts', // Socket.IO: `socket-feed.ts` masks each item
    'apps/collector/src/feed/stream-routes.ts', // frames of `sseFrame`
    'apps/vault/src/seal/watch-routes.ts', // the same
    'packages/service-kit/src/http/sse.ts',
  ]);
  expect(Object.keys(found(/\b(?:socket|response|raw)\.(?:write|end)\((?!\))/g))).toEqual([
    'apps/core/src/turn/link-writer.ts', // lines of `mask.json`
    'apps/collector/src/feed/mount-feed.ts', // a refusal before there is a request: a fixed text
    'packages/service-kit/src/http/refuse-bytes.ts', // the same
    'packages/service-kit/src/http/sse-stream.ts', // the result of `sseFrame`
  ]);
});

test('only the listed files use no mask', () => {
  expect(Object.keys(found(/\bnoMask\b/g))).toEqual([
    'apps/core/src/feed/event-feed.ts', // a time and a fixed text
    'apps/vault/src/app.ts', // it exists to return secrets
    'packages/service-kit/src/redaction/outbound-mask.ts',
  ]);
  expect(Object.keys(found(/as MaskedJson\b/g))).toEqual([
    'packages/service-kit/src/redaction/core-mask.ts', // masked by the core
    'packages/service-kit/src/redaction/outbound-mask.ts',
  ]);
});
