import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { defaultsOf, fakeContext, type FakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { meta, start } from '../src/index.ts';
import type { CompatConfig } from '../src/meta.ts';

export const annKey = 'ann-key-of-forty-characters-0123456789ab';
export const bobKey = 'bob-key-of-forty-characters-0123456789ab';
const both = [
  { key: annKey, identity: 'ann', username: 'Ann' },
  { key: bobKey, identity: 'bob', username: 'Bob' },
];

export type RunningCompat = FakeContext & {
  url: string;
  port: number;
  writeKeys(keys: readonly object[] | string): void;
  health(): { healthy: boolean; detail?: string };
  stop(): Promise<void>;
  /** Ends the process, and begins one with the same port and state. Returns what the new one uses. */
  restart(): Promise<FakeContext>;
};

/** The real connector on a free port, with a scripted core. */
export async function startCompat(config: Partial<CompatConfig> = {}): Promise<RunningCompat> {
  const folder = temporaryFolder();
  const file = path.join(folder.path, 'keys.json');
  const writeKeys = (keys: readonly object[] | string) =>
    writeFileSync(file, typeof keys === 'string' ? keys : JSON.stringify({ keys }), { mode: 0o600 });
  writeKeys(both);
  const open = async (onPort: number) => {
    const fake = fakeContext({
      type: 'compat',
      dataDir: folder.path,
      config: { ...defaultsOf(meta), port: onPort, keys_file: file, ...config },
    });
    // The schema's defaults make a whole config, as the manager does.
    return { fake, running: await start(fake.context as StartContext<CompatConfig>) };
  };
  let { fake, running } = await open(0);
  const { port = 0, url = '' } = running;
  return {
    ...fake,
    port,
    url,
    writeKeys,
    health: () => running.health(),
    async stop() {
      await running.stop();
      folder.remove();
    },
    async restart() {
      await running.stop();
      ({ fake, running } = await open(port));
      return fake;
    },
  };
}
