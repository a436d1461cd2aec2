import { mkdirSync, mkdtempSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import { startModelServer, type ModelServer } from '@svc/testing/model-server/start-model-server.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import type { CreateEngine, Engine, EngineDeps } from '../engine.ts';
import { engineDeps } from './engine-deps.ts';

/** A real engine to test: how it is created, and where its program is installed. */
export type RealEngine = { id: string; createEngine: CreateEngine; install: string };

export type EngineBench = RealEngine & {
  /** Folder for everything that a test writes, removed afterwards. */
  dir: string;
  model: ModelServer;
  /** Creates an engine with a state, which is closed with the test, and the folder for its turns. */
  start(fields?: Partial<EngineDeps>): StartedEngine;
  /** Like `start`; the caller closes the engine. */
  open(fields?: Partial<EngineDeps>): StartedEngine;
};

export type StartedEngine = { engine: Engine; stateDir: string; request: { cwd: string } };

type BenchOptions = {
  /** A folder of the engine's state that may be shared between states, for code that its program has compiled. */
  cache?: string;
  /** One state for all engines, as of one service that is started again: what an engine does once for each state takes long. */
  sharesState?: true;
};

/** A scripted model and new engines that use it, for the tests of one `describe`. */
export async function openEngineBench(real: RealEngine, { cache, sharesState }: BenchOptions = {}): Promise<EngineBench> {
  const folder = temporaryFolder();
  const dir = folder.path;
  const newState = () => mkdtempSync(path.join(dir, 'state-'));
  const shared = sharesState === true ? newState() : null;
  if (cache !== undefined) mkdirSync(path.join(dir, cache));
  const model = await startModelServer();
  afterAll(async () => {
    await model.close();
    folder.remove();
  });
  const open = (fields: Partial<EngineDeps> = {}): StartedEngine => {
    const stateDir = shared ?? newState();
    if (cache !== undefined) symlinkSync(path.join(dir, cache), path.join(stateDir, cache));
    const engine = real.createEngine(engineDeps({ stateDir, path: real.install, baseUrl: model.url, ...fields }));
    return { engine, stateDir, request: { cwd: mkdtempSync(path.join(dir, 'cwd-')) } };
  };
  return {
    ...real,
    dir,
    model,
    open,
    start(fields) {
      const started = open(fields);
      onTestFinished(() => started.engine.close());
      return started;
    },
  };
}

/** The model's script for tests in which its reply does not matter. */
export const hello = { steps: [{ text: 'hello' }] };
