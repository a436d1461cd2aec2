import { mkdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { EngineView, OfferedModelServer } from '@svc/contract/engine.ts';
import { freePorts } from '@svc/testing/free-ports.ts';
import { openHouse } from '@svc/testing/house.ts';
import { startFakeOllama } from '@svc/testing/model-server/fake-ollama.ts';
import { testEngine, whyNoEngine } from '@svc/testing/model-server/test-engines.ts';
import { testUnless } from '@svc/testing/skip-note.ts';

const codex = testEngine('codex');
type Engines = { engines: EngineView[]; current: { id: string; model: string | null }; model_servers: OfferedModelServer[] };

testUnless(whyNoEngine('codex'))(
  'shows a model server that starts later with the command to connect it, and uses it without a restart',
  async () => {
    const [port = 0] = await freePorts(1);
    const house = await openHouse({ env: { SVC_DEFAULT_ENGINE: '', SVC_MODEL_SERVERS: `http://127.0.0.1:${port}/v1` } });
    onTestFinished(async () => void (await house.stop()));
    const engines = () => house.get<Engines>(`${house.urls.core}/v2/engines`);
    expect(await engines()).toMatchObject({ current: { id: 'offline' }, model_servers: [] });

    const server = await startFakeOllama({ port, answer: 'Hello from a model.' });
    onTestFinished(() => server.close());
    const command = async () => (await engines()).model_servers[0]?.connect;
    await expect.poll(command, { interval: 500 }).toBe('./svc engine install codex');

    // What installing leaves, without the download.
    mkdirSync(path.join(house.folder, 'engines/codex'), { recursive: true });
    symlinkSync(codex ?? '', path.join(house.folder, 'engines/codex/current'));
    await house.post(`${house.urls.core}/v2/engines/codex/refresh`);
    await expect.poll(async () => (await engines()).current).toMatchObject({ id: 'codex', model: 'llama3.2:3b' });
    const { body } = await house.post<object>(`${house.urls.core}/v2/engines/codex/test`);
    expect(body).toMatchObject({ ok: true, text: 'Hello from a model.' });
    expect((await engines()).model_servers).toMatchObject([{ connect: null }]);
  },
  120_000,
);
