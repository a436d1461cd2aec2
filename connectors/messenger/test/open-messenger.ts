import { onTestFinished } from 'vitest';
import type { RunningConnector, StartContext } from '@svc/connector-kit/connector.ts';
import { defaultsOf, fakeContext, type FakeContext } from '@svc/connector-kit/testing/fake-context.ts';
import { startTelegramServer, type TelegramServer, type TelegramServerOptions } from '@svc/testing/telegram-server/index.ts';
import { temporaryFolder } from '@svc/testing/temporary-folder.ts';
import { meta, start } from '../src/index.ts';
import type { Config } from '../src/meta.ts';

export type OpenMessenger = FakeContext & {
  server: TelegramServer;
  dir: string;
  live(): RunningConnector;
  health(): { healthy: boolean; detail?: string };
  /** Texts of the bot in a chat. */
  shown(chat: number): string[];
  restart(): Promise<void>;
};

type Options = { config?: Partial<Config>; server?: TelegramServerOptions; context?: Partial<StartContext> };

/** The connector on a Telegram server, with a scripted core. All that it asks is checked against the description of the Bot API. */
export async function openMessenger({ config, server: serverOptions, context }: Options = {}): Promise<OpenMessenger> {
  const folder = temporaryFolder();
  const server = await startTelegramServer(serverOptions);
  const open = async () => {
    const fake = fakeContext(
      {
        type: meta.type,
        dataDir: folder.path,
        config: {
          ...defaultsOf(meta),
          bot_token_secret_key: 'TOKEN',
          api_root: server.apiRoot,
          http_port: 0,
          reactions: false,
          ...config,
        },
        ...context,
      },
      { TOKEN: server.token },
    );
    return { fake, live: await start(fake.context as unknown as StartContext<Config>) };
  };
  let { fake, live } = await open();
  const stop = async () => {
    fake.shutdown.abort();
    await live.stop();
  };
  onTestFinished(async () => {
    await stop();
    await server.close();
    folder.remove();
  });
  const messenger: OpenMessenger = {
    ...fake,
    server,
    dir: folder.path,
    live: () => live,
    health: () => live.health(),
    shown: (chat) => server.replies(chat).map(({ text }) => text),
    async restart() {
      await stop();
      ({ fake, live } = await open());
      Object.assign(messenger, fake);
    },
  };
  return messenger;
}
