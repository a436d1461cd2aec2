import { expect, onTestFinished, test, vi } from 'vitest';
import type { EngineEvent } from '@svc/engine-kit/engine.ts';
import type { HandleResult } from '@svc/contract/turn.ts';
import { processesIn } from '@svc/testing/model-server/find-processes.ts';
import { createGate } from '@svc/testing/model-server/gate.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import path from 'node:path';
import { openEngineCore } from './open-engine-core.ts';
import { envelope } from './open-test-core.ts';
import { signalIfThere } from '@svc/service-kit/process/signal-process.ts';

const cases = [
  { id: 'claude', program: 'claude .*--input-format stream-json', folder: 'workspace' },
  { id: 'codex', program: 'codex app-server', folder: 'engine-state/codex' },
] as const;

const hello = { steps: [{ text: 'hello' }] };

for (const { id, program, folder } of cases) {
  describeWithEngine(id, `warm ${id} that is killed during a turn`, async (install) => {
    const open = async () => {
      const { core, model, close } = await openEngineCore(id, install);
      onTestFinished(close);
      let serial = 0;
      const turn = async (text: string) =>
        (await core.handle(envelope(text, { message_id: `m-${++serial}` }))).json<HandleResult & { error?: string }>();
      /** Other programs may still check its tools under other policies, and exit by themselves. */
      const kill = async () => {
        let pids: number[] = [];
        await expect.poll(() => (pids = processesIn(path.join(core.folder, folder), program))).toHaveLength(1);
        for (const pid of pids) signalIfThere(pid, 'SIGKILL');
      };
      model.script(() => hello);
      await turn('one');
      return { core, model, turn, kill };
    };

    test('before any output: the turn runs once more and answers in the same session', async () => {
      const { core, model, turn, kill } = await open();
      const before = (await core.context.sessions.read('compat:c1:key'))?.engine_session_id;
      const gate = createGate();
      const asked = model.requests.length;
      model.script(() => (model.requests.length === asked + 1 ? { steps: [{ text: [gate, 'never'] }] } : hello));
      const killed = turn('two');
      await gate.reached;
      await kill();
      expect(await killed).toMatchObject({ outcome: 'replied', actions: [{ text: 'hello' }] });
      expect((await core.context.sessions.read('compat:c1:key'))?.engine_session_id).toBe(before);
      expect(model.requests.at(-1)?.historyText).toContain('one');
    });

    test('after some output: the turn fails with a clear code, and the next one works', async () => {
      const { core, model, turn, kill } = await open();
      model.script(() => ({ steps: [{ text: ['half ', createGate()] }] }));
      const shown = vi.fn();
      const { engine } = await core.context.engines.active();
      const run = engine.run.bind(engine);
      vi.spyOn(engine, 'run').mockImplementation(async function* (request, signal): AsyncGenerator<EngineEvent> {
        for await (const event of run(request, signal)) {
          if (event.type === 'delta') shown();
          yield event;
        }
      });
      const killed = turn('two');
      await expect.poll(() => shown).toHaveBeenCalled();
      await kill();
      expect(await killed).toMatchObject({ error: 'engine_crashed' });
      model.script(() => hello);
      expect(await turn('three')).toMatchObject({ outcome: 'replied', actions: [{ text: 'hello' }] });
    });
  });
}
