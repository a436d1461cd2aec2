import { onTestFinished } from 'vitest';
import type { StartContext } from '@svc/connector-kit/connector.ts';
import { defaultsOf, fakeContext, type FakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { meta } from '../src/index.ts';
import { startWith, type Seams } from '../src/start.ts';
import type { Config } from '../src/meta.ts';
import type { ListedClient } from '../src/calls.ts';

export type OpenToolserver = FakeContext & {
  url: string;
  dir: string;
  live(): Awaited<ReturnType<typeof startWith>>;
  /** A code of `svc toolserver approve`. */
  code(purpose?: Record<string, unknown>): Promise<string>;
  listed(): Promise<ListedClient[]>;
  restart(): Promise<void>;
};

type Options = { config?: Partial<Config>; context?: Partial<StartContext>; before?: (dir: string) => void } & Seams;

/** The connector with a scripted core, which answers `you asked: …` unless told otherwise. */
export async function openToolserver({ config, context, before, ...seams }: Options = {}): Promise<OpenToolserver> {
  const folder = temporaryFolder();
  before?.(folder.path);
  const open = async (port: number) => {
    const fields = { type: meta.type, dataDir: folder.path, config: { ...defaultsOf(meta), port, ...config }, ...context };
    const fake = fakeContext(fields);
    fake.core.script = ({ envelope, result }) =>
      result({ actions: [{ type: 'reply', text: `you asked: ${envelope.content.text}` }] });
    return {
      fake,
      live: await startWith(fake.context as unknown as StartContext<Config>, seams),
    };
  };
  let { fake, live } = await open(0);
  const port = live.port!;
  const stop = async () => {
    fake.shutdown.abort();
    await live.stop();
  };
  onTestFinished(async () => {
    await stop();
    folder.remove();
  });
  const call = (method: string, params = {}) => live.call!('', method, params, new AbortController().signal);
  return {
    ...fake,
    url: live.url!,
    dir: folder.path,
    live: () => live,
    code: async (purpose) => ((await call('approve', purpose)) as { code: string }).code,
    listed: async () => ((await call('clients')) as { clients: ListedClient[] }).clients,
    async restart() {
      await stop();
      ({ fake, live } = await open(port));
    },
  };
}
