import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { fill, openBackupBench, unpack } from './open-backup-bench.ts';

const bench = openBackupBench();
const { importBackup, inData, makeBackup, open } = bench;

describe('backup boundaries', () => {
  test('[S04] a body over the limit is rejected with the name of the setting, declared or streamed', async () => {
    await open({ env: { SVC_RAW_BODY_LIMIT: '10kb' } });
    const big = randomBytes(20_000);
    const declared = await importBackup(big);
    expect([declared.statusCode, declared.json()]).toEqual([
      413,
      expect.objectContaining({ variable: 'SVC_RAW_BODY_LIMIT', limit: 10_240 }),
    ]);
    const url = await bench.core.app.listen({ host: '127.0.0.1', port: 0 });
    const stream = (bytes: Buffer) =>
      fetch(`${url}/v2/backups/import`, {
        method: 'POST',
        body: ReadableStream.from([bytes.subarray(0, 5000), bytes.subarray(5000)]),
        duplex: 'half',
        headers: { 'content-type': 'application/gzip' },
      } as RequestInit);
    const streamed = await stream(gzipSync(big));
    expect([streamed.status, await streamed.json()]).toEqual([413, expect.objectContaining({ variable: 'SVC_RAW_BODY_LIMIT' })]);
    // An upload that is refused long before its end gets the reason, too.
    const wrong = await stream(randomBytes(10_000));
    expect([wrong.status, await wrong.json()]).toEqual([422, expect.objectContaining({ error: 'unprocessable' })]);
    expect(readdirSync(inData('restore'))).toEqual([]);
  });

  test('[V10] a backup contains no secret in the clear, with or without a passphrase', async () => {
    await open({ before: fill });
    for (const body of [undefined, { include_secrets: { passphrase: 'a long passphrase' } }]) {
      const { archive } = await makeBackup(body);
      const raw = gunzipSync(archive);
      for (const canary of [
        'canary-0123456789',
        'sk-svc-',
        'a long passphrase',
        Buffer.from('canary-0123456789-c').toString('base64').slice(0, 20),
      ]) {
        expect(raw.includes(canary), canary).toBe(false);
      }
      expect(unpack(archive).has('secrets.enc')).toBe(body !== undefined);
    }
    for (const name of readdirSync(inData('backups'))) {
      expect(readFileSync(inData('backups', name)).includes('a long passphrase'), name).toBe(false);
    }
  });

  test('[H04] a page of another origin can neither make, import nor undo backups', async () => {
    await open();
    const headers = { origin: 'https://evil.example', 'content-type': 'application/gzip' };
    for (const url of ['/v2/backups/import', '/v2/backups']) {
      expect((await bench.core.app.inject({ method: 'POST', url, payload: 'x', headers })).statusCode, url).toBe(403);
    }
    expect((await bench.core.app.inject({ method: 'DELETE', url: '/v2/backups/restore', headers })).statusCode).toBe(403);
    expect(existsSync(inData('restore'))).toBe(false);
  });
});
