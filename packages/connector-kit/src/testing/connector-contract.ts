import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { RunningConnector } from '../connector.ts';
import { intakeConfig } from '../intake-config.ts';
import { defaultsOf, fakeContext, type FakeContext } from './fake-context.ts';

type ConnectorModule = { meta: ConnectorMeta; start(ctx: never): Promise<RunningConnector> };

export type ContractOptions = {
  /** The `test` function of a test runner, such as `node:test` or vitest. */
  test: (name: string, check: () => Promise<void>) => unknown;
  /** The connector's folder, whose name is its type. */
  folder: string;
  load: () => Promise<ConnectorModule>;
  /** Config that starts an instance in a test, port 0 included. `dir` is a folder of its own. */
  config: (dir: string) => Record<string, unknown>;
  /** Values of the secrets that this config names. */
  secrets?: Readonly<Record<string, string>>;
};

type Started = { running: RunningConnector; fake: FakeContext; meta: ConnectorMeta; isMounted(): boolean };

/** The rules that every connector type must follow (spec: the connector entry contract). */
export function connectorContract({ test, folder, load, config, secrets = {} }: ContractOptions): void {
  const type = path.basename(folder);
  const check = (rule: string, work: () => Promise<void>) => test(`the connector contract: ${type} ${rule}`, work);

  /** Starts an instance, and stops it whatever the outcome of the check. */
  async function started(work: (started: Started) => Promise<void> | void): Promise<void> {
    const { meta, start } = await load();
    const dir = mkdtempSync(path.join(tmpdir(), 'svc-contract-'));
    const fake = fakeContext({ type: meta.type, dataDir: dir, config: { ...defaultsOf(meta), ...config(dir) } }, secrets);
    let isMounted = false;
    const outboundAccess = { ...fake.context.outboundAccess, onMount: () => void (isMounted = true) };
    try {
      const running = await start({ ...fake.context, outboundAccess } as never);
      try {
        await work({ running, fake, meta, isMounted: () => isMounted });
      } finally {
        fake.shutdown.abort();
        await running.stop();
      }
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  }

  check('exports meta and start, and nothing else', async () => {
    assert.deepEqual(Object.keys(await load()).toSorted(), ['meta', 'start']);
  });

  check('has a descriptor whose type is its folder name', async () => {
    const { meta } = await load();
    assert.equal(meta.type, type);
    assert.match(meta.displayName, /\S/);
    assert.equal(typeof meta.supportsMultiple, 'boolean');
    const { actions: _actions, ...told } = meta.capabilities;
    assert.deepEqual(Object.keys(told).toSorted(), [
      'max_message_chars',
      'supports_attachments_out',
      'supports_code_blocks',
      'supports_markdown',
    ]);
  });

  check('has a config schema that a form can show and JSON can carry', async () => {
    const { meta } = await load();
    const { configSchema } = meta;
    assert.equal(configSchema.type, 'object');
    assert.deepEqual(JSON.parse(JSON.stringify(meta)), meta);
    for (const [name, field] of Object.entries(configSchema.properties)) {
      assert.equal(typeof field.type, 'string', `${name} has a type`);
      assert.match(field.title, /\S/, `${name} has a title`);
    }
    for (const name of configSchema.required ?? []) assert.ok(Object.hasOwn(configSchema.properties, name), `${name} is a field`);
  });

  check('asks for the intake of messages in the words of the kit, if it asks at all', async () => {
    const { meta } = await load();
    for (const [name, field] of Object.entries(intakeConfig)) {
      assert.equal(meta.configSchema.properties[name]?.type ?? field.type, field.type);
    }
  });

  check('names only string fields of its schema as credentials', async () => {
    const { meta } = await load();
    for (const name of meta.credentialKeys) assert.equal(meta.configSchema.properties[name]?.type, 'string');
  });

  check('starts, is healthy, and stops', async () => {
    let url: string | undefined;
    await started(({ running }) => {
      assert.equal(running.health().healthy, true);
      url = running.url;
    });
    if (url !== undefined) assert.equal(await answers(url), false, 'nothing answers after stop()');
  });

  check('asks for no secrets but those its credential fields name', async () => {
    await started(({ fake, meta }) => {
      const named = meta.credentialKeys.map((key) => fake.context.config[key]);
      assert.deepEqual(
        fake.asked.filter((name) => !named.includes(name)),
        [],
      );
    });
  });

  check('says nothing of its secrets in its log and its telemetry', async () => {
    await started(({ fake }) => {
      const said = JSON.stringify([fake.logs, fake.events]);
      for (const [name, value] of Object.entries(secrets)) assert.ok(!said.includes(value), `the value of ${name} is not shown`);
    });
  });

  check('can be sent through if its descriptor says so, and only then', async () => {
    await started(({ running, meta, isMounted }) => {
      assert.equal(isMounted() || running.send !== undefined, meta.outbound !== false);
    });
  });

  check('takes calls if its descriptor names some, and only then', async () => {
    await started(({ running, meta, isMounted }) => {
      if (!isMounted()) assert.equal(running.call !== undefined, (meta.calls ?? []).length > 0);
    });
  });

  check('stops when it is asked to twice', async () => {
    await started(async ({ running, fake }) => {
      fake.shutdown.abort();
      await Promise.all([running.stop(), running.stop()]);
    });
  });
}

const answers = async (url: string): Promise<boolean> =>
  fetch(`${url}/health`).then(
    () => true,
    () => false,
  );
