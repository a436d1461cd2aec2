import type { DiscordGatewayAdapterCreator, VoiceConnection } from '@discordjs/voice';
import { errorText, ServiceError, type StartContext } from '@svc/connector-kit';
import type { VoicePackages } from './voice-packages.ts';

export type JoinOptions = {
  guild: string;
  channel: string;
  adapterCreator: DiscordGatewayAdapterCreator;
  /** Separates the connections of two instances in one test process. */
  group: string;
  log: StartContext['log'];
  /** The connection has ended for good, with the reason. Not called when it was closed on purpose. */
  onLost(why: string): void;
  /** Timeout of joining, and of a broken connection's own recovery before it is reopened, ms. */
  joinMs?: number;
  comeBackMs?: number;
};

export type JoinedChannel = {
  connection: VoiceConnection;
  /** The current channel: a moderator may move the bot. */
  channel(): string;
  close(): void;
};

const maxRejoins = 5;

/**
 * Joins a voice channel and keeps the connection: a broken one is restored, for a limited time.
 * @throws ServiceError `unavailable` when Discord does not accept the connection
 */
export async function joinChannel({ voice }: VoicePackages, options: JoinOptions): Promise<JoinedChannel> {
  const { guild, channel, adapterCreator, group, log, onLost, joinMs = 20_000, comeBackMs = 5_000 } = options;
  const { VoiceConnectionStatus: status } = voice;
  const config = { guildId: guild, channelId: channel, group, selfDeaf: false, selfMute: false };
  const connection = voice.joinVoiceChannel({ ...config, adapterCreator });
  let isOver = false;
  const close = (): void => {
    isOver = true;
    if (connection.state.status !== status.Destroyed) connection.destroy();
  };
  const lost = (why: string): void => {
    if (isOver) return;
    close();
    onLost(why);
  };
  connection.on('error', (error) => log('warn', 'the voice connection reported an error', { error: errorText(error) }));
  try {
    await voice.entersState(connection, status.Ready, joinMs);
  } catch (error) {
    close();
    throw new ServiceError('unavailable', notLetIn, { cause: error });
  }

  const isBack = (): Promise<boolean> =>
    voice.entersState(connection, status.Ready, comeBackMs).then(
      () => true,
      () => false, // not restored in time
    );

  /** The library itself recovers from temporary errors and from being moved to another channel. */
  async function comeBack(): Promise<void> {
    for (let tries = 0; !isOver && !(await isBack()); tries++) {
      if (isOver) return;
      if (wasSentAway(connection)) return lost('I was disconnected');
      if (tries >= maxRejoins || !connection.rejoin()) return lost('the connection broke and did not come back');
    }
  }

  let comingBack: Promise<void> | null = null;
  connection.on('stateChange', (_, { status: now }) => {
    if (now === status.Destroyed) return lost('the connection to Discord ended');
    if (now !== status.Ready) comingBack ??= comeBack().finally(() => (comingBack = null));
  });
  return { connection, channel: () => connection.joinConfig.channelId ?? channel, close };
}

/** A person disconnected it, or the channel is gone: then it does not reconnect. */
const wasSentAway = ({ state }: VoiceConnection): boolean => 'closeCode' in state && state.closeCode === 4014;

const notLetIn =
  'Discord did not let me into the voice channel. Check that the bot has the permissions to connect and speak there, and that the channel is not full.';
