import { chmodSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { collectTurn } from '@svc/engine-kit/testing/collect-turn.ts';
import { hello, openEngineBench } from '@svc/engine-kit/testing/engine-bench.ts';
import { engineRequest } from '@svc/engine-kit/testing/engine-request.ts';
import { describeWithEngine } from '@svc/testing/model-server/test-engines.ts';
import { createEngine } from '../src/engine.ts';
import { acceptCodex } from '../src/find-codex.ts';

describeWithEngine('codex', 'codex that offers more than its settings allow', async (install) => {
  const real = acceptCodex(install);
  if (typeof real === 'string') throw new Error(real);
  const { model, start, dir } = await openEngineBench({ id: 'codex', createEngine, install });

  /** The real program behind a script that inverts one of our settings, like a version that does not know it. */
  const versionWithout = (setting: string): string => {
    const program = path.join(mkdtempSync(path.join(dir, 'bin-')), 'codex');
    writeFileSync(
      program,
      `#!/bin/sh\n[ "$1" = app-server ] || exec '${real.program}' "$@"\nsed -u 's/"${setting}":false/"${setting}":true/g' | exec '${real.program}' "$@"\n`,
    );
    chmodSync(program, 0o700);
    return program;
  };

  test('refuses turns that may only talk if the version offers them commands, with the reason, and runs others', async () => {
    const warn = vi.fn();
    const log = { debug() {}, info() {}, warn };
    const { engine, request } = start({ path: versionWithout('features.shell_tool'), log });
    model.script(() => hello);
    const guest = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request, toolPolicy: 'none' }));
    expect(guest.last).toMatchObject({
      type: 'failed',
      failure: { code: 'engine_policy_refused', retryable: false, message: expect.stringMatching(/"none": .* exec_command/) },
    });
    expect(model.requests).toEqual([]);
    const owner = await collectTurn(engine, engineRequest({ prompt: 'hi', ...request, toolPolicy: 'full' }));
    expect(owner).toMatchObject({ text: 'hello', last: { type: 'done' } });
    expect(warn).toHaveBeenCalledOnce();
    expect((await engine.probe()).reason).toContain('the tool policy "none"');
  });

  test('checks a version once, and does not delay the start', async () => {
    const first = start();
    model.script(() => hello);
    const turn = (started: typeof first) =>
      collectTurn(started.engine, engineRequest({ prompt: 'hi', ...started.request, toolPolicy: 'none' }));
    const { last } = await turn(first);
    expect(last).toEqual({ type: 'done' });
    const files = () => readdirSync(first.stateDir).filter((name) => name.startsWith('policy-'));
    expect(files()).toHaveLength(1);
    writeFileSync(path.join(first.stateDir, files()[0] ?? ''), JSON.stringify({ why: 'it was read from the file' }));
    await first.engine.close();
    const second = start({ stateDir: first.stateDir });
    expect((await turn(second)).last).toMatchObject({ failure: { message: expect.stringContaining('read from the file') } });
  });
});
