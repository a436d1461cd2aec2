import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineView } from '@svc/contract/engine.ts';
import { CliError } from '../cli-error.ts';
import { visibleLine } from '../terminal.ts';
import type { EngineApi } from './engine-api.ts';

const pollMs = 500;

/** Installs an engine and shows the progress. The core continues when this shell is closed. */
export async function installEngine(api: EngineApi, id: string, show: (line: string) => void): Promise<EngineView> {
  await api.install(id);
  let shown = '';
  for (;;) {
    const engine = await api.view(id);
    const step = engine.install?.step ?? '';
    if (engine.install?.state === 'failed') {
      throw new CliError(`${id} was not installed.`, { why: step, run: `./svc engine install ${id}` });
    }
    if (engine.install?.state !== 'running') return engine;
    if (step !== shown) show(visibleLine(step));
    shown = step;
    await sleep(pollMs);
  }
}
