import type { StartContext } from '@svc/connector-kit';
import { defaultsOf, fakeContext, type FakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { startDiscordServer, type DiscordServer, type DiscordServerOptions } from '@svc/testing/discord-server/index.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { expect, onTestFinished } from 'vitest';
import { meta, start } from '../src/index.ts';
import type { Config } from '../src/meta.ts';

export type OpenChatroom = FakeContext & {
  server: DiscordServer;
  dir: string;
  firstSteps(): string;
  health(): { healthy: boolean; detail?: string };
  /** What the core was given, in order. */
  taken(): { text: string; delivery: 'sync' | 'async' }[];
  stop(): Promise<void>;
  restart(): Promise<void>;
};

export type ChatroomOptions = {
  config?: Partial<Config>;
  server?: DiscordServerOptions;
  context?: Partial<StartContext>;
  /** Another one than that of the bot. */
  token?: string;
  /** Before it is started. */
  arrange?(server: DiscordServer): void;
};

/** The connector on a Discord of ours, with a scripted core. All that it asks is checked against the description of the API. */
export async function openChatroom({
  config,
  server: serverOptions,
  context,
  arrange,
  token,
}: ChatroomOptions = {}): Promise<OpenChatroom> {
  const folder = temporaryFolder();
  const server = await startDiscordServer(serverOptions);
  onTestFinished(async () => {
    await server.close();
    folder.remove();
    expect(server.violations).toEqual([]);
  });
  arrange?.(server);
  const open = async () => {
    const settings = { ...defaultsOf(meta), bot_token_secret_key: 'TOKEN', api_url: server.apiUrl, reactions: false, ...config };
    const fake = fakeContext(
      { type: meta.type, dataDir: folder.path, config: settings, ...context },
      { TOKEN: token ?? server.token },
    );
    return { fake, live: await start(fake.context as unknown as StartContext<Config>) };
  };
  let { fake, live } = await open();
  const stop = async () => {
    fake.shutdown.abort();
    await live.stop();
  };
  onTestFinished(stop);
  const chatroom: OpenChatroom = {
    ...fake,
    server,
    dir: folder.path,
    firstSteps: () => live.firstSteps ?? '',
    health: () => live.health(),
    taken: () => fake.core.turns.map(({ envelope: { content, delivery = 'sync' } }) => ({ text: content.text, delivery })),
    stop,
    async restart() {
      await stop();
      ({ fake, live } = await open());
      Object.assign(chatroom, fake);
    },
  };
  return chatroom;
}
