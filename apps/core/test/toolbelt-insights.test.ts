import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ListedSession } from '@svc/contract/session.ts';
import { listedSession } from '@svc/testing/listed-session.ts';
import type { Called } from './call-tool.ts';
import { from, fromOwner, openToolbeltBench } from './open-toolbelt-bench.ts';

const bench = openToolbeltBench();
const { call } = bench;
const keysOf = ({ result }: Called) => (result['sessions'] as { conversation_key: string }[]).map((row) => row.conversation_key);

/** A session in a terminal. */
const listed = (conversation_key: string, over: Partial<ListedSession>): ListedSession =>
  listedSession(conversation_key, {
    source: 'terminal',
    surface: 'terminal',
    turns: 3,
    last_event_at: 1_700_000_000_000,
    ...over,
  });

describe('svc_sessions', () => {
  test('lists active sessions of all channels for trusted people, and only their own for others', async () => {
    await bench.core.handle(fromOwner());
    await bench.core.handle(from('worker'));
    bench.collector.answers.set('/api/sessions', {
      sessions: [
        listed('terminal:1', { principal: 'owner', state: 'running', source: 'transcript' }),
        listed('messenger:m1:user:worker', { source: 'core', surface: 'messenger', principal: 'worker', repo: '/r' }),
        listed('terminal:2', {
          principal: 'worker',
          title: 'Repair the pump',
          engine_id: 'claude',
          cwd: '/r/src',
          repo: '/r',
          multiplexer: 'tmux',
          tmux_target: '%7',
        }),
      ],
    });
    const all = await call(fromOwner(), 'svc_sessions');
    expect(keysOf(all)).toEqual(
      expect.arrayContaining(['compat:c1:key', 'messenger:m1:user:worker', 'terminal:1', 'terminal:2']),
    );
    const rows = all.result['sessions'] as object[];
    expect(rows).toContainEqual(
      expect.objectContaining({ conversation_key: 'compat:c1:key', state: 'running', this_conversation: true }),
    );
    expect(rows).toContainEqual(
      expect.objectContaining({ conversation_key: 'messenger:m1:user:worker', source: 'core', principal: 'worker', repo: '/r' }),
    );
    expect(rows).toContainEqual({
      conversation_key: 'terminal:2',
      source: 'terminal',
      surface: 'terminal',
      principal: 'worker',
      state: 'idle',
      title: 'Repair the pump',
      engine_id: 'claude',
      cwd: '/r/src',
      repo: '/r',
      pane: '%7',
      turns: 3,
      last_active_at: '2023-11-14T22:13:20.000Z',
    });
    expect(rows).toContainEqual(expect.objectContaining({ conversation_key: 'terminal:1', source: 'transcript', pane: null }));
    expect(keysOf(await call(from('worker'), 'svc_sessions')).toSorted()).toEqual(['messenger:m1:user:worker', 'terminal:2']);
    const inPublic = await call(from('trusted', { public: true }), 'svc_sessions');
    expect(keysOf(inPublic)).toEqual(['messenger:m1:user:trusted']);
    // In public not even their own sessions, whose subject is not for every reader.
    const ofWorker = from('worker', { public: true, conversation_key: 'messenger:m1:channel:1' });
    expect(keysOf(await call(ofWorker, 'svc_sessions'))).toEqual(['messenger:m1:channel:1']);
    expect(bench.collector.requests[0]?.authorization).toBe('Bearer insights-token-of-the-test');
  });

  test('lists the sessions of this service while the collector is unavailable', async () => {
    bench.collector.answers.clear();
    const answer = await call(fromOwner(), 'svc_sessions');
    expect(keysOf(answer)).toContain('compat:c1:key');
    expect(answer.result['note']).toMatch(/Only sessions of this service are listed/);
  });
});

describe('svc_map and svc_who', () => {
  const at = (conversation_key: string, principal: string | null) => ({
    conversation_key,
    surface: 'messenger',
    identity: null,
    principal,
    active: true,
    last_at: 1_700_000_000_000,
  });

  test('the map shows all places and sessions to owners, and to others only their own', async () => {
    const places = [
      { place: '/r', kind: 'repo', shared: true, sessions: [at('a', 'worker'), at('b', 'owner')] },
      { place: '/s', kind: 'repo', shared: false, sessions: [at('b', 'owner')] },
    ];
    bench.collector.answers.set('/api/map', { since: 0, places, truncated: false });
    expect((await call(fromOwner(), 'svc_map', { since: 5.5 })).result['places']).toMatchObject([
      { place: '/r', shared: true, sessions: [{ conversation_key: 'a', last_at: '2023-11-14T22:13:20.000Z' }, {}] },
      { place: '/s', shared: false },
    ]);
    expect(bench.collector.requests.at(-1)?.url).toBe('/api/map?since=5');
    expect((await call(from('worker'), 'svc_map')).result['places']).toMatchObject([
      { place: '/r', shared: false, sessions: [{ conversation_key: 'a' }] },
    ]);
  });

  test('a relative path is resolved against the folder of the engine', async () => {
    const who = {
      since: 0,
      truncated: true,
      sessions: [{ ...at('a', 'owner'), touches: 2, paths: [{ path: '/x', tool: 'Edit', last_at: 0 }] }],
    };
    bench.collector.answers.set('/api/who', { path: '/x', ...who });
    const answer = await call(fromOwner(), 'svc_who', { path: 'src/a b.ts' });
    expect(bench.collector.requests.at(-1)?.url).toBe(
      `/api/who?${new URLSearchParams({ path: path.join(bench.core.folder, 'workspace/src/a b.ts') }).toString()}`,
    );
    expect(answer.result).toMatchObject({
      sessions: [{ conversation_key: 'a', touches: 2 }],
      note: expect.stringContaining('missing') as string,
    });
  });

  test('an unavailable collector is reported', async () => {
    await bench.withoutCollector(async () => {
      for (const [tool, input] of [
        ['svc_map', {}],
        ['svc_who', { path: '/r' }],
      ] as const) {
        expect(await call(fromOwner(), tool, input)).toMatchObject({
          ok: false,
          text: expect.stringContaining('is unavailable') as string,
        });
      }
    });
  });
});
