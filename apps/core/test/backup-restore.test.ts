import { loadSettings } from '@svc/service-kit/config/settings.ts';
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { RestorePlan } from '@svc/contract/backup.ts';
import type { TurnProgress } from '@svc/contract/turn.ts';
import { createLog } from '@svc/service-kit/log.ts';
import { repositoryRoot } from '@svc/service-kit/run-service.ts';
import { readVersion } from '@svc/service-kit/version.ts';
import { freePort } from '@svc/testing/free-ports.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import { Backups } from '../src/backup/backups.ts';
import { startDegradedCore } from '../src/degraded-core.ts';
import { startCore } from '../src/start-core.ts';
import { listStart } from '../src/session/session-cursor.ts';
import { fill, openBackupBench, rowsOf, unpack } from './open-backup-bench.ts';
import { envelope } from './open-test-core.ts';

const bench = openBackupBench();
const { ask, importBackup, inData, list, makeBackup, open, restart, upload } = bench;

describe('a restore', () => {
  test('[S05] followed by a new backup gives the same backup', async () => {
    await open({ before: fill });
    await bench.core.addPrincipal('anna', 'trusted');
    await bench.core.handle(envelope('remember the tulips'));
    await upload('a tulip.bin', randomBytes(5000));
    const first = await makeBackup();
    await bench.core.handle(envelope('and forget this'));
    await upload('b.bin', randomBytes(100));
    writeFileSync(inData('instances', 'compat', 'keys.json'), '{"keys":[{"key":"sk-svc-newer-0123456789"}]}');
    const answer = await importBackup(first.archive);
    expect(answer.statusCode, answer.body).toBe(200);
    expect(answer.json<{ restore: RestorePlan }>().restore).toMatchObject({ secrets: 'kept', files: 7 });
    expect((await list()).restore?.state).toBe('pending');
    await restart();
    expect((await list()).restore?.state).toBe('applied');
    expect((await ask('GET', '/health')).json<{ notices: string[] }>().notices).toContainEqual(
      expect.stringContaining('svc backup undo'),
    );
    expect(readFileSync(inData('instances', 'compat', 'keys.json'), 'utf8')).toContain('newer');
    expect(readFileSync(inData('secrets.json'), 'utf8')).toContain('canary');
    const second = await makeBackup();
    const [before, after] = [unpack(first.archive), unpack(second.archive)];
    expect([...after.keys()]).toEqual([...before.keys()]);
    for (const [name, bytes] of before) {
      if (name === 'backup.json') continue;
      const now = after.get(name) ?? Buffer.of();
      if (name.endsWith('.db')) expect(rowsOf(now), name).toEqual(rowsOf(bytes));
      else expect(now, name).toEqual(bytes);
    }
  });

  test('of a local backup can be undone before or after the restart', async () => {
    await open({ before: fill });
    const { id } = await makeBackup();
    await bench.core.handle(envelope('said later'));
    expect((await ask('DELETE', '/v2/backups/restore')).statusCode).toBe(404);
    expect((await ask('POST', `/v2/backups/${id}/restore`)).json()).toMatchObject({ ok: true, restore: { secrets: 'kept' } });
    expect((await ask('DELETE', '/v2/backups/restore')).json()).toEqual({ ok: true, undone: 'pending' });
    expect((await list()).restore).toBeNull();
    await ask('POST', `/v2/backups/${id}/restore`);
    await restart();
    expect(await bench.core.context.sessions.list(listStart, 10)).toEqual([]);
    expect((await ask('DELETE', '/v2/backups/restore')).json()).toEqual({ ok: true, undone: 'at_next_start' });
    await restart();
    expect(await bench.core.context.sessions.list(listStart, 10)).toHaveLength(1);
    expect((await list()).restore).toBeNull();
  });

  test('of a local backup from a newer version works; importing it elsewhere is refused', async () => {
    await open({ before: fill });
    const newer = new Backups({ ...bench.core.context, version: '999.0.0', holdFiles: () => () => undefined });
    const { id } = newer.create();
    await newer.settled();
    await bench.core.handle(envelope('said later'));
    const archive = readFileSync(inData('backups', `${id}.tar.gz`));
    expect((await ask('POST', `/v2/backups/${id}/restore`)).statusCode).toBe(200);
    await restart();
    expect(await bench.core.context.sessions.list(listStart, 10)).toEqual([]);
    rmSync(inData('backups'), { recursive: true });
    const refused = await importBackup(archive);
    expect([refused.statusCode, refused.body]).toEqual([422, expect.stringContaining('Update the service first: ./svc update')]);
  });

  test('restores secrets with their passphrase, and is refused with another one', async () => {
    await open({ before: fill });
    const passphrase = 'tulips in März';
    const header = (text: string) => ({ 'x-backup-passphrase': Buffer.from(text).toString('base64') });
    const { archive, id } = await makeBackup({ include_secrets: { passphrase } });
    expect((await list()).backups[0]?.has_secrets).toBe(true);
    writeFileSync(inData('secrets.json'), '{"OPENAI_API_KEY":"another-0123456789"}');
    const wrong = await importBackup(archive, header('tulips in May'));
    expect(wrong.statusCode).toBe(422);
    expect(wrong.json<{ message: string }>().message).toContain('passphrase');
    expect((await list()).restore).toBeNull();
    expect((await ask('POST', `/v2/backups/${id}/restore`, { passphrase: 'nope nope' })).statusCode).toBe(422);
    expect((await importBackup(archive, header(passphrase))).json()).toMatchObject({ restore: { secrets: 'restored' } });
    await restart();
    expect(readFileSync(inData('secrets.json'), 'utf8')).toContain('canary-0123456789-c');
    expect(readFileSync(inData('instances', 'compat', 'keys.json'), 'utf8')).toContain('canary');
    expect(readFileSync(inData('instances', 'compat', 'clients.json'), 'utf8')).toContain('canary');
  });
});

test('a restore keeps history and deliveries, and clears dead questions, terminals and checkouts', async () => {
  const key = 'compat:c1:key';
  const inKey = `conversation_key=${encodeURIComponent(key)}`;
  const script: EngineScript = async function* ({ text, ask: askPerson }) {
    if (text === 'ask') await askPerson?.({ text: 'Go on?', options: [{ id: 'yes', label: 'Yes' }] });
    yield* says(`re: ${text}`);
  };
  const sendToChannel = () => Promise.resolve({ delivered: false, permanent: true, error: 'no such chat' } as const);
  await open({ script, sendToChannel });
  const { context } = bench.core;
  const named = (text: string, message_id: string) => envelope(text, { message_id });
  await ask('POST', '/trust/roles', { name: 'owner', tier: 'SACRED', tool_policy: 'full', asks: 'always' });
  await bench.core.handle(named('first', 'm1'));
  const as = { channel: 'compat', sender: { raw_id: 'owner' } };
  await ask('POST', '/v2/amend', { conversation_key: key, message_id: 'm1', version: 1, text: 'second', as });
  await bench.core.app.inject({ method: 'PATCH', url: `/v2/session/${encodeURIComponent(key)}`, payload: { title: 'Tulips' } });
  const pushed = envelope('push', { message_id: 'm2', channel_context: { chatId: 'chat' } });
  const { turn_id } = await context.pipeline.handle(pushed, { sink: null, isGone: () => true }, 'req');
  context.pipeline.pendingAcks.accepted(turn_id);
  await context.pipeline.pendingAcks.undelivered(turn_id, 'the test says so');
  await expect.poll(() => context.outbox.counts().failed).toBe(1);
  const asked = Promise.withResolvers<void>();
  const sink = (frame: TurnProgress) => frame.type === 'ask' && asked.resolve();
  const waiting = context.pipeline.handle(
    envelope('ask', { message_id: 'm3', conversation_key: 'compat:c1:asks' }),
    { sink, isGone: () => false, showsAsks: true },
    'req',
  );
  await asked.promise;
  context.db.raw
    .prepare(`UPDATE session SET multiplexer = 'tmux', tmux_target = 'term_1', claimed_by = 'term_1' WHERE conversation_key = ?`)
    .run(key);
  const historyOf = async () =>
    (await ask('GET', `/v2/session/${encodeURIComponent(key)}/history`)).json<{ messages: object[] }>();
  const deliveriesOf = async () => (await ask('GET', `/v2/deliveries?${inKey}`)).json<{ deliveries: object[] }>();
  const [history, deliveries] = [await historyOf(), await deliveriesOf()];
  expect(history.messages.length).toBeGreaterThan(2);
  const { id } = await makeBackup();
  const asks = (await ask('GET', '/v2/asks')).json<{ asks: { id: string }[] }>().asks;
  await ask('POST', `/v2/asks/${asks[0]?.id}/answer`, { as, conversation_key: 'compat:c1:asks', option: 'yes' });
  await waiting;
  await bench.core.app.inject({ method: 'DELETE', url: `/v2/session/${encodeURIComponent(key)}` });
  expect((await ask('POST', `/v2/backups/${id}/restore`)).statusCode).toBe(200);

  await restart();
  await bench.core.context.terminals.recover();
  expect(await historyOf()).toEqual(history);
  expect(await deliveriesOf()).toEqual(deliveries);
  const session = (await ask('GET', `/v2/session/${encodeURIComponent(key)}`)).json<object>();
  expect(session).toMatchObject({ title: 'Tulips', claimed_by: null, multiplexer: null, tmux_target: null });
  expect((await ask('GET', '/v2/terminals')).json()).toEqual({ terminals: [] });
  expect((await ask('GET', '/v2/asks')).json<{ asks: { id: string }[] }>().asks.map((one) => one.id)).not.toContain(asks[0]?.id);
  const late = await ask('POST', `/v2/asks/${asks[0]?.id}/answer`, { as, conversation_key: 'compat:c1:asks', option: 'yes' });
  expect([404, 409]).toContain(late.statusCode);
  const gone = await bench.core.handle(
    envelope('work', { message_id: 'm4', workspace: { checkout: 'co_0123456789abcdefgh' } } as object),
  );
  expect(gone.json()).toMatchObject({ error: 'unprocessable', message: expect.stringContaining('request it again') as string });
});

const ownSettings = () => loadSettings(repositoryRoot, { SVC_DATA_DIR: bench.core.context.settings.dataDir });

test('a core with a damaged database accepts restores and imports, but makes no backup', async () => {
  await open({ before: fill });
  const { archive, id } = await makeBackup();
  const port = await freePort();
  const version = readVersion(repositoryRoot, 'core', () => 'stable');
  const service = { settings: { ...ownSettings(), corePort: port }, log: createLog('core', 'silent'), version };
  const closed = await startDegradedCore(service, 'It is damaged.');
  const at = `${closed.url}/v2/backups`;
  try {
    expect((await fetch(at, { method: 'POST' })).status).toBe(503);
    expect((await fetch(`${closed.url}/v2/sessions`)).status).toBe(503);
    expect((await fetch(`${at}/${id}/restore`, { method: 'POST' })).status).toBe(200);
    expect((await fetch(`${at}/import`, { method: 'POST', body: new Uint8Array(archive) })).status).toBe(200);
    expect(await (await fetch(at)).json()).toMatchObject({ backups: [{ id, state: 'done' }], restore: { state: 'pending' } });
    expect(await (await fetch(`${at}/restore`, { method: 'DELETE' })).json()).toEqual({ ok: true, undone: 'pending' });
  } finally {
    await closed.stop();
  }
});

test('a core started alone on a half-restored folder refuses to start', async () => {
  await open();
  mkdirSync(inData('restore'));
  writeFileSync(inData('restore', 'journal.json'), '{}');
  const version = readVersion(repositoryRoot, 'core', () => 'stable');
  const service = { settings: ownSettings(), log: createLog('core', 'silent'), version };
  await expect(startCore(service)).rejects.toThrow('A restore in');
});
