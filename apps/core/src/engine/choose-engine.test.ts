import { expect, test, vi } from 'vitest';
import type { EngineProbe } from '@svc/engine-kit/engine.ts';
import { chooseEngine } from './choose-engine.ts';
import { engineIds, type EngineId } from './load-engine.ts';

const probe = (over: Partial<EngineProbe> = {}): EngineProbe => ({
  installed: false,
  version: null,
  path: null,
  auth: 'none',
  ready: false,
  reason: 'It is not installed.',
  ...over,
});
const ready = probe({ installed: true, ready: true, reason: 'logged in' });
const choose = (probes: Partial<Record<EngineId, EngineProbe>>, local: boolean = false, waits: EngineId | null = null) =>
  chooseEngine({
    configured: null,
    probe: (id) => Promise.resolve(probes[id] ?? probe()),
    findLocalEndpoint: () => Promise.resolve(local ? { name: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1', model: 'm' } : null),
    waitsForVault: (id) => Promise.resolve(id === waits),
  });

test('the configured engine is used without probing any other', async () => {
  const look = vi.fn();
  const chosen = await chooseEngine({
    configured: { id: 'codex', by: 'SVC_DEFAULT_ENGINE' },
    probe: look,
    findLocalEndpoint: look,
    waitsForVault: look,
  });
  expect(chosen).toMatchObject({ id: 'codex', why: expect.stringContaining('SVC_DEFAULT_ENGINE') });
  expect(look).not.toHaveBeenCalled();
});

test('the first ready engine is used, claude before codex before gemini', async () => {
  expect(await choose({ claude: ready, codex: ready })).toMatchObject({ id: 'claude' });
  expect(await choose({ codex: ready, gemini: ready })).toMatchObject({ id: 'codex', why: expect.stringContaining('logged in') });
  expect(await choose({ gemini: ready })).toMatchObject({ id: 'gemini' });
});

test('an engine that waits for the vault is used when none is ready, with the command that unseals it', async () => {
  const waiting = probe({ installed: true, reason: 'gemini cannot answer: ./svc vault unseal' });
  expect(await choose({ gemini: waiting }, false, 'gemini')).toMatchObject({
    id: 'gemini',
    why: expect.stringContaining('./svc vault unseal'),
  });
  expect(await choose({ gemini: waiting, claude: ready }, false, 'gemini')).toMatchObject({ id: 'claude' });
  expect(await choose({ gemini: waiting, codex: probe({ installed: true }) }, true, 'gemini')).toMatchObject({ id: 'codex' });
  expect(await choose({}, false, 'gemini')).toMatchObject({ id: 'offline' });
});

test('a local model server is used through codex when codex is installed', async () => {
  const installed = probe({ installed: true, reason: 'nobody is logged in' });
  expect(await choose({ codex: installed }, true)).toMatchObject({
    id: 'codex',
    baseUrl: 'http://127.0.0.1:11434/v1',
    model: 'm',
  });
});

test('a local model server is reported with the command that installs codex when codex is missing', async () => {
  expect(await choose({}, true)).toMatchObject({
    id: 'offline',
    why: expect.stringMatching(/Ollama answers at http:\/\/127\.0\.0\.1:11434\/v1 .*: \.\/svc engine install codex$/),
  });
});

test('falls back to the offline engine and lists what is missing', async () => {
  const chosen = await choose({ claude: probe({ installed: true, reason: 'Nobody is logged in.' }) });
  expect(chosen).toMatchObject({
    id: 'offline',
    why: `No other engine is ready. Nobody is logged in.${' It is not installed.'.repeat(engineIds.length - 2)}`,
  });
});
