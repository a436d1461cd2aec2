import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createCoreLink } from '@svc/connector-kit/core-link.ts';
import type { History } from '@svc/contract/session.ts';
import type { Terminal } from '@svc/contract/terminal.ts';
import { systemClock } from '@svc/service-kit/clock.ts';
import { createRemoteUsers } from '@svc/service-kit/http/remote-users.ts';
import { waitFor } from '@svc/testing/house.ts';
import { createScriptedEngine } from '@svc/testing/scripted-engine.ts';
import { skipNote, whyNoTmux } from '@svc/testing/skip-note.ts';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing/temporary-folder.ts';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openLinkServer } from '../src/turn/link-server.ts';
import { envelope, openTestCore, type TestCore } from './open-test-core.ts';

const noTmux = whyNoTmux();
const users = createRemoteUsers('s'.repeat(43));
const key = 'compat:c1:key';
const PATH = process.env['PATH'] ?? '';
/** Reads a line at its prompt, and works for two seconds when the line is "work". */
const program = `while printf '\\n❯ ' && read -r line; do
  echo "$line" >> "$OUT/said"
  if [ "$line" = work ]; then for n in 1 2 3 4 5 6 7 8; do echo "tick $n"; sleep 0.25; done; fi
done`;

describe.skipIf(noTmux !== null)(`operator messages for a session in a terminal${skipNote(noTmux)}`, () => {
  let core: TestCore;
  let place: TemporaryFolder;
  let terminal: Terminal;

  const open = (folder?: string) =>
    openTestCore({
      ...(folder !== undefined && { folder }),
      remoteUsers: users,
      env: { SVC_DEFAULT_ENGINE: 'offline', PATH },
      loadEngine: async (id) => () =>
        Object.assign(createScriptedEngine(id), {
          terminal: async () => ({
            argv: ['sh', '-c', program, 'sh'] as [string, ...string[]],
            env: { PATH, OUT: place.path, LC_ALL: 'C.UTF-8' },
            engineSessionId: '6b0a9a0e-0000-4000-8000-000000000001',
          }),
        }),
    });
  const call = (url: string, payload: object, headers = {}) => core.app.inject({ method: 'POST', url, headers, payload });
  const inject = (text: string, headers = {}) => call('/v2/inject', { conversation_key: key, text }, headers);
  const tmux = (...args: string[]) =>
    execFileSync('tmux', ['-S', path.join(core.folder, 'run/tmux.sock'), ...args], { encoding: 'utf8' });
  const types = (...keys: string[]) => tmux('send-keys', '-t', `=${terminal.id}:`, ...keys);
  const said = (): string[] => {
    const file = path.join(place.path, 'said');
    return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  };
  const isSaid = (lines: string[]) =>
    waitFor(
      () => said().length >= lines.length,
      20_000,
      () => `said: ${said().join(', ')}`,
    ).then(() => expect(said()).toEqual(lines));

  beforeEach(async () => {
    place = temporaryFolder();
    core = await open();
    await core.handle(envelope('hello', { conversation_key: key }));
    terminal = (await call('/v2/terminals', { conversation_key: key })).json<Terminal>();
  });
  afterEach(async () => {
    for (const { id } of core.context.terminals.list()) await core.context.terminals.end(id);
    await core.close();
    place.remove();
  });

  test('are typed when the program waits for input', async () => {
    expect((await inject('from elsewhere; $(touch /tmp/x) #{pid}')).json()).toMatchObject({
      ok: true,
      delivered: true,
      deliverErr: null,
      route: null,
      terminal: terminal.id,
    });
    await isSaid(['from elsewhere; $(touch /tmp/x) #{pid}']);
  });

  test('are typed once per id, and not repeated over the channel after the terminal has ended', async () => {
    const send = (text: string, message_id: string) => call('/v2/inject', { conversation_key: key, text, message_id });
    const answers = [await send('deploy', 'm1'), await send('deploy', 'm1')];
    for (const answer of answers) expect(answer.json()).toMatchObject({ delivered: true, terminal: terminal.id });
    await send('and look', 'm2');
    await isSaid(['deploy', 'and look']);
    await core.context.terminals.end(terminal.id);
    expect((await send('deploy', 'm1')).json()).toMatchObject({ ok: true, delivered: true, outcome: 'silent' });
    const overChannel = (await send('go on', 'm3')).json<{ turn_id: string }>();
    terminal = (await call('/v2/terminals', { conversation_key: key })).json<Terminal>();
    expect((await send('go on', 'm3')).json()).toMatchObject({ turn_id: overChannel.turn_id });
    expect(said()).toEqual(['deploy', 'and look']);
  });

  test('wait while the program works or a person types, and keep their order', async () => {
    types('-l', 'work');
    types('Enter');
    await isSaid(['work']);
    types('-l', 'half a sen');
    const first = inject('first');
    const second = inject('second');
    await waitFor(
      () => tmux('capture-pane', '-p', '-t', `=${terminal.id}:`).includes('tick 8'),
      20_000,
      () => 'no tick',
    );
    types('-l', 'tence');
    types('Enter');
    expect([(await first).json(), (await second).json()]).toMatchObject([{ delivered: true }, { delivered: true }]);
    await isSaid(['work', 'half a sentence', 'first', 'second']);
  });

  test('are reported to a connector as undelivered before the manager gives up', async () => {
    const socketPath = path.join(core.folder, 'run/core.sock');
    const server = await openLinkServer(core.context, socketPath);
    const pass = core.context.connectorPasses.issue({ type: 'terminal', instanceId: 't1', sessions: 'every' }).reveal();
    const link = createCoreLink({ socketPath, pass, clock: systemClock, log: () => undefined });
    onTestFinished(async () => {
      link.close();
      await server.close();
    });
    await core.addPrincipal('operator', 'owner', 'terminal');
    types('-l', 'half a sen');
    const other = inject('for others').then(() => 'the others were first');
    const as = { channel: 'terminal', sender: { raw_id: 'operator' } };
    const answer = link.sessions.inject(as, key, { text: 'for a connector', message_id: 'out_1' });
    expect(await Promise.race([other, answer])).toMatchObject({ delivered: false, terminal: terminal.id });
  });

  test.each([
    ['which nobody named', {}],
    ['which have a message_id', { message_id: 'm1' }],
  ])('are sent over the channel when the terminal ends before they were typed: words %s', async (_which, name) => {
    types('-l', 'half a sen');
    const words = call('/v2/inject', { conversation_key: key, text: 'do not lose me', ...name });
    await waitFor(
      () => tmux('capture-pane', '-p', '-t', `=${terminal.id}:`).includes('half'),
      10_000,
      () => 'nothing typed',
    );
    await waitFor(
      async () => (await core.context.db.all('SELECT id FROM terminal_word')).length === 1,
      10_000,
      () => 'no word is kept',
    );
    await core.context.terminals.end(terminal.id);
    await words;
    await waitFor(
      async () =>
        JSON.stringify((await core.app.inject(`/v2/session/${key}/history`)).json<History>()).includes('do not lose me'),
      10_000,
      () => 'it was not said',
    );
    expect(said()).toEqual([]);
  });

  test('include announcements, typed once; one that was not typed stays unread for the next turn', async () => {
    const announce = (text: string, target: string) => call('/v2/announce', { text, target });
    await announce('not for it', 'surface:elsewhere');
    await announce('the build is red', key);
    await waitFor(
      () => said().length >= 2,
      20_000,
      () => `said: ${said().join(', ')}`,
    );
    expect(said()).toEqual([expect.stringMatching(/^\[announcements /), expect.stringContaining('the build is red')]);
    types('-l', 'half a sen');
    await announce('the build is green', key);
    await waitFor(
      async () => (await core.context.db.all('SELECT id FROM terminal_word')).length === 1,
      10_000,
      () => 'no word is kept',
    );
    await core.context.terminals.end(terminal.id);
    await waitFor(
      async () => (await core.context.db.all('SELECT id FROM terminal_word')).length === 0,
      10_000,
      () => 'it was not given back',
    );
    const turns = await core.context.db.all("SELECT id FROM turn WHERE origin <> 'terminal'");
    expect(turns).toHaveLength(1);
    const unread = core.context.announcements.after(await core.context.sessions.announceCursor(key));
    expect(unread.map(({ text }) => text)).toEqual(['the build is green']);
  });

  test('are refused from other users, and for a claim without a terminal', async () => {
    expect((await inject('let me in', users.headersFor('tom'))).statusCode).toBe(409);
    await core.context.terminals.end(terminal.id);
    await call('/v2/claim', { conversation_key: key });
    expect((await inject('x')).statusCode).toBe(409);
  });
});
