import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { RunningConnector, StartContext } from '../connector.ts';
import { intakeConfig } from '../intake-config.ts';
import { createFakeCore, type FakeCore } from './fake-core.ts';

type ConnectorModule = { meta: ConnectorMeta; start(ctx: never): Promise<RunningConnector> };

export type ContractOptions = {
  /** The connector's folder, whose name is its type. */
  folder: string;
  load: () => Promise<ConnectorModule>;
  /** Config that starts an instance in a test, port 0 included. `dir` is a folder of its own. */
  config: (dir: string) => Record<string, unknown>;
};

/** What every connector type must hold to (spec: the connector entry contract). */
export function connectorContract({ folder, load, config }: ContractOptions): void {
  describe(`the connector contract: ${path.basename(folder)}`, () => {
    const ends: (() => void)[] = [];
    afterEach(() => {
      for (const end of ends.splice(0)) end();
    });
    const makeContext = (meta: ConnectorMeta) => {
      const dir = mkdtempSync(path.join(tmpdir(), 'svc-contract-'));
      ends.push(() => rmSync(dir, { recursive: true, force: true }));
      return fakeContext({ type: meta.type, dataDir: dir, config: { ...defaultsOf(meta), ...config(dir) } });
    };

    test('exports meta and start, and nothing else', async () => {
      expect(Object.keys(await load()).toSorted()).toEqual(['meta', 'start']);
    });

    test('has a descriptor whose type is its folder name', async () => {
      const { meta } = await load();
      expect(meta.type).toBe(path.basename(folder));
      expect(meta.displayName).toMatch(/\S/);
      expect(typeof meta.supportsMultiple).toBe('boolean');
      expect(Object.keys(meta.capabilities).toSorted()).toEqual([
        'max_message_chars',
        'supports_attachments_out',
        'supports_code_blocks',
        'supports_markdown',
      ]);
    });

    test('has a config schema that a form can show and JSON can carry', async () => {
      const { meta } = await load();
      const { configSchema } = meta;
      expect(configSchema.type).toBe('object');
      expect(JSON.parse(JSON.stringify(meta))).toEqual(meta);
      for (const field of Object.values(configSchema.properties))
        expect(field).toMatchObject({ type: expect.any(String), title: expect.stringMatching(/\S/) });
      for (const name of configSchema.required ?? []) expect(Object.keys(configSchema.properties)).toContain(name);
    });

    test('asks for the intake of messages in the words of the kit, if it asks at all', async () => {
      const { meta } = await load();
      for (const [name, field] of Object.entries(intakeConfig)) {
        expect(meta.configSchema.properties[name]?.type ?? field.type).toBe(field.type);
      }
    });

    test('names only string fields of its schema as credentials', async () => {
      const { meta } = await load();
      for (const name of meta.credentialKeys) expect(meta.configSchema.properties[name]?.type).toBe('string');
    });

    test('starts, is healthy, and stops', async () => {
      const { meta, start } = await load();
      const { context, shutdown } = makeContext(meta);
      const running = await start(context as never);
      expect(running.health().healthy).toBe(true);
      shutdown.abort();
      await running.stop();
      if (running.url !== undefined) await expect(answers(running.url)).resolves.toBe(false);
    });

    test('stops when it is asked to twice', async () => {
      const { meta, start } = await load();
      const { context, shutdown } = makeContext(meta);
      const running = await start(context as never);
      shutdown.abort();
      await Promise.all([running.stop(), running.stop()]);
    });
  });
}

export type FakeContext = { context: StartContext; core: FakeCore; shutdown: AbortController; logs: string[] };

/** A start context for tests: a scripted core, no secrets, logs kept as lines. */
export function fakeContext(fields: Pick<StartContext, 'type' | 'dataDir' | 'config'> & Partial<StartContext>): FakeContext {
  const core = createFakeCore();
  const shutdown = new AbortController();
  const logs: string[] = [];
  const context: StartContext = {
    instanceId: 'inst_1',
    instanceName: 'A test',
    assistantName: 'assistant',
    version: {
      service: fields.type,
      version: '0.0.0',
      channel: 'stable',
      sha: 'unknown',
      started_at: 0,
      node: process.versions.node,
    },
    connectorDir: fields.dataDir,
    allowedHosts: [],
    stopTimeoutMs: 2_000,
    core,
    secrets: { get: async (name) => Promise.reject(new Error(`There is no secret "${name}".`)) },
    emit: () => undefined,
    log: (level, message, more) => void logs.push(JSON.stringify({ level, message, ...more })),
    heartbeat: () => undefined,
    signal: shutdown.signal,
    ...fields,
  };
  return { context, core, shutdown, logs };
}

/** The defaults a schema names, as the manager fills them in. */
export const defaultsOf = ({ configSchema }: ConnectorMeta): Record<string, unknown> =>
  Object.fromEntries(Object.entries(configSchema.properties).map(([name, field]) => [name, field.default]));

const answers = async (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    () => true,
    () => false,
  );
