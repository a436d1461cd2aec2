import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Checkout } from '@svc/contract/checkout.ts';
import type { ErasurePlan } from '@svc/contract/erasure.ts';
import type { TurnProgress } from '@svc/contract/turn.ts';
import type { UploadedFile } from '@svc/contract/upload.ts';
import { startGitServer } from '@svc/testing/git-server.ts';
import { tablesOf } from '@svc/testing/person-data.ts';
import { says, type EngineScript } from '@svc/testing/scripted-engine.ts';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';
import { tablesWith } from './rows-with.ts';

/** Occurs in everything that the person of these tests says, sends, is called or is asked. */
const word = 'zantedeschia';
const key = `compat:c1:${word}`;
const sender = { raw_id: word, raw_username: word };
let core: TestCore;
let git: Awaited<ReturnType<typeof startGitServer>>;

/** Asks its person, adds a file and a reaction to the reply, and answers. */
const script: EngineScript = async function* ({ text, ask, resume }) {
  yield { type: 'session', engineSessionId: resume ?? `s-${word}`, resumed: resume !== null, model: null };
  if (text.startsWith('ask')) {
    const answer = await ask?.({ text: `Really ${word}?`, options: [{ id: 'yes', label: word }] });
    const { id } = core.context.db.raw.prepare(`SELECT id FROM turn WHERE state = 'running'`).get() as { id: string };
    const {
      path: file,
      name,
      mime,
    } = await core.context.uploads.take(Readable.from([Buffer.from('x')]), {
      filename: `out-${word}.txt`,
      conversation_key: key,
    });
    await core.context.pipeline.turnActions.add({ id }, { type: 'file', path: file, name, mime });
    await core.context.pipeline.turnActions.add({ id }, { type: 'react', emoji: '👍' });
    yield* says(`${answer?.option} ${word}`);
  } else yield* says(`re: ${text}`);
};

beforeEach(async () => {
  git = await startGitServer();
  core = await openTestCore({
    env: { SVC_CHECKOUT_HOSTS: `127.0.0.1:${git.port}` },
    script,
    sendToChannel: () => Promise.resolve({ delivered: false, permanent: true, error: `no chat of ${word}` }),
  });
  await post('/trust/roles', { name: 'trusted', tier: 'TRUSTED', tool_policy: 'full', asks: 'always' });
  await core.addPrincipal(word, 'trusted');
});
afterEach(async () => {
  await core.close();
  await git.close();
});

async function call<T = Record<string, unknown>>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  url: string,
  payload?: object,
) {
  const answer = await core.app.inject({ method, url, ...(payload !== undefined && { payload }) });
  expect([url, answer.statusCode, answer.body]).toEqual([url, 200, answer.body]);
  return answer.json<T>();
}
const post = <T>(url: string, payload: object) => call<T>('POST', url, payload);
const inPath = encodeURIComponent;
const say = (text: string, over: object = {}) =>
  core.handle(envelope(text, { conversation_key: key, sender, channel_context: { chatId: word }, ...over }));

/** Everything that the core takes in about a person, by each way in which it arrives. */
async function fill(): Promise<void> {
  const { file } = await post<{ file: UploadedFile }>('/v2/upload', {
    filename: `in-${word}.txt`,
    conversation_key: key,
    data_base64: Buffer.from(word).toString('base64'),
  });
  await askAndAnswer(file);
  const amendment = { conversation_key: key, as: { channel: 'compat', sender }, message_id: `m-${word}`, version: 1 };
  expect(await post('/v2/amend', { ...amendment, text: `edited ${word}` })).toMatchObject({ outcome: 'noted' });
  const repository = git.repository(word);
  writeFileSync(path.join(repository.folder, `${word}.txt`), word);
  repository.commit();
  const { id } = await post<Checkout>('/v2/checkouts', { url: repository.url, conversation_key: key });
  await say(`in the checkout ${word}`, { message_id: 'm-2', workspace: { checkout: id } });
  await failToPush();
  await say(`seen ${word}`, { delivery: 'async', message_id: `seen-${word}`, content: { text: word, attachments: [file] } });
  await call('PATCH', `/v2/session/${inPath(key)}`, { title: `about ${word}`, cwd: repository.folder });
  await core.handle(envelope('who am I', { sender: { raw_id: `other-${word}`, raw_username: word } }));
  await call('PUT', '/v2/spend/budget', { surface: 'compat', value: word, month_usd: 1 });
  await post('/v2/announce', { text: `for ${word}`, target: key });
}

async function askAndAnswer(file: UploadedFile): Promise<void> {
  const asked = Promise.withResolvers<string>();
  const message = envelope(`ask ${word}`, {
    conversation_key: key,
    sender,
    message_id: `m-${word}`,
    content: { text: `ask ${word}`, attachments: [file] },
  });
  const caller = {
    isGone: () => false,
    showsAsks: true,
    sink: (frame: TurnProgress) => frame.type === 'ask' && asked.resolve(frame.ask.id),
  };
  const handled = core.context.pipeline.handle(message, caller, 'req');
  const id = await Promise.race([asked.promise, handled.then(() => 'none')]);
  filled.push(...tablesWith(core.context.db.raw, word));
  await post(`/v2/asks/${id}/answer`, { as: { channel: 'compat', sender }, conversation_key: key, option: 'yes' });
  const { actions, turn_id } = await handled;
  expect(actions).toHaveLength(3);
  await core.context.pipeline.pendingAcks.delivered(turn_id);
}

/** A reply that nobody fetched, and that its channel rejects. */
async function failToPush(): Promise<void> {
  const message = envelope(`push ${word}`, {
    conversation_key: key,
    sender,
    message_id: 'm-3',
    channel_context: { chatId: word },
  });
  const { turn_id } = await core.context.pipeline.handle(message, { sink: null, isGone: () => true }, 'req');
  core.context.pipeline.pendingAcks.accepted(turn_id);
  await core.context.pipeline.pendingAcks.undelivered(turn_id, 'the test says so');
  await expect.poll(() => core.context.outbox.counts()).toEqual({ pending: 0, failed: 1 });
}

/** What an operator does: one erasure, and the removal of strangers who may be someone else. */
async function erase(): Promise<void> {
  const { sessions } = await call<{ sessions: { conversation_key: string; principal_id: string }[] }>('GET', '/v2/sessions');
  expect(sessions.map(({ conversation_key }) => conversation_key)).toEqual([key]);
  const { removes } = await call<ErasurePlan>('GET', `/trust/principals/${word}/erasure`);
  expect(removes).toMatchObject({ conversation_count: 1, files: 2, budgets: 1, announcements: 1, names: [{ value: word }] });
  expect(await post(`/trust/principals/${word}/erase`, {})).toEqual({ ok: true, principal: word, conversations: 1, files: 2 });
  const { pending } = await call<{ pending: { id: string }[] }>('GET', '/trust/pending');
  for (const { id } of pending) await call('DELETE', `/trust/pending/${id}`);
}

/** Confirms replies on their way: their text is removed once the channel has them. */
async function confirmOpen(): Promise<void> {
  const open = core.context.db.raw.prepare('SELECT id FROM turn WHERE open = 1').all();
  for (const { id } of open) await core.context.pipeline.pendingAcks.delivered(String(id));
}

/** Tables that held data of the person at any time. */
let filled: string[] = [];
beforeEach(() => {
  filled = [];
});

test('erasing a person removes everything they said, sent, were asked and are called, except from records', async () => {
  await fill();
  await core.context.pending.list();
  await core.context.db.flush();
  const before = new Set([...filled, ...tablesWith(core.context.db.raw, word)]);
  const ofPeople = Object.entries(tablesOf.core).filter(([, erasure]) => erasure === 'conversation' || erasure === 'person');
  expect(ofPeople.map(([table]) => table).filter((table) => !before.has(table) && table !== 'trust_grant')).toEqual([]);
  expect(filesWith(core.folder).length).toBeGreaterThan(3);

  await erase();
  await confirmOpen();
  await core.context.pending.list();
  await core.context.db.flush();
  expect(core.telemetry.events).toContainEqual(expect.objectContaining({ session: key, payload: { what: 'forgotten' } }));
  const left = tablesWith(core.context.db.raw, word);
  expect(left.filter((table) => tablesOf.core[table] !== 'record')).toEqual([]);
  expect(filesWith(core.folder)).toEqual([]);
});

/** Files and folders with the word in their name or content; databases are checked by their tables. */
function filesWith(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const file = path.join(entry.parentPath, entry.name);
    const shown = path.relative(folder, file);
    if (shown.includes(word)) return [shown];
    if (!entry.isFile() || entry.name.startsWith('core.db')) return [];
    return readFileSync(file).includes(word) ? [shown] : [];
  });
}
