import { userInfo } from 'node:os';
import { DatabaseSync } from 'node:sqlite';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { History } from '@svc/contract/session.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { requestJson } from '@svc/service-kit/http/json-client.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { createHostProcess } from '@svc/testing/host-process.ts';
import { mountLossyDisk } from '@svc/testing/lossy-disk.ts';

/** How much of the time before a power failure may be lost, in ms (docs/running.md). */
const lostMs = 1000;
const talkMs = 3000;
/** Slow enough that the log is not checkpointed, which would also sync it to the disk, and that one page holds the history. */
const breathMs = 25;
const conversation = 'shell:power';

test('with the default SVC_DURABILITY, a power failure leaves the database intact and loses at most the last second', async ({
  skip,
}) => {
  const disk = mountLossyDisk(300);
  if (typeof disk === 'string') return skip(disk);
  const [port = 0, manager = 0, collector = 0] = await freePorts(3);
  const core = createHostProcess('core', disk.folder, { core: port, manager, collector }, {});
  onTestFinished(async () => {
    await core.end('SIGKILL');
    await disk.remove();
  });
  await core.start();
  const url = `http://127.0.0.1:${port}`;
  const said: { text: string; at: number }[] = [];
  for (const end = performance.now() + talkMs; performance.now() < end;) {
    const text = `m${said.length}`;
    await say(url, text);
    said.push({ text, at: performance.now() });
    await setTimeout(breathMs);
  }
  const cutAt = performance.now();
  await core.end('SIGKILL');
  disk.cutPower();
  await disk.restore();

  const db = new DatabaseSync(path.join(disk.folder, 'core.db'), { readOnly: true });
  expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  db.close();
  await core.start();
  const address = `${url}/v2/session/${encodeURIComponent(conversation)}/history?limit=1000`;
  const { status, body } = await requestJson<History>(address, { timeoutMs: 20_000 });
  expect(status).toBe(200);
  const kept = new Set(body.messages.map(({ text }) => text));
  const older = said.filter(({ at }) => at < cutAt - lostMs).map(({ text }) => text);
  expect(older.length).toBeGreaterThan(3);
  expect(older.filter((text) => !kept.has(text))).toEqual([]);
}, 120_000);

async function say(url: string, text: string): Promise<void> {
  const { username } = userInfo(); // the owner
  const body = {
    channel: 'shell',
    conversation_key: conversation,
    message_id: text,
    sender: { raw_id: username, raw_username: username },
    content: { text },
    delivery: 'sync',
    capabilities: { supports_markdown: true, supports_code_blocks: true, actions: [] },
  };
  const { status, body: result } = await requestJson<HandleResult>(`${url}/v2/handle`, { body, timeoutMs: 20_000 });
  expect([status, result.outcome]).toEqual([200, 'replied']);
}
