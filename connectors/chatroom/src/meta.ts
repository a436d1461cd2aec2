import { commonFields } from '@svc/connector-kit/common-fields.ts';
import { intakeConfig } from '@svc/connector-kit/intake-config.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { ReplyStyle } from '@svc/connector-kit/common-fields.ts';

/** How the messages of a channel are taken that are not addressed to the assistant. */
export const channelModes = ['mention', 'autonomous', 'quiet'] as const;
export type ChannelMode = (typeof channelModes)[number];

const userId = '^([0-9]{15,21})?$';

/** What this connector is. It is data: nothing here may open, read or start anything. */
export const meta = {
  type: 'chatroom',
  displayName: 'Discord',
  supportsMultiple: true,
  capabilities: {
    max_message_chars: 2000,
    supports_markdown: true,
    supports_code_blocks: true,
    supports_attachments_out: true,
    actions: ['file', 'react'],
  },
  credentialKeys: ['bot_token_secret_key', 'send_key_secret_key'],
  exclusive: ['bot_token_secret_key'],
  configSchema: {
    type: 'object',
    required: ['bot_token_secret_key'],
    properties: {
      bot_token_secret_key: {
        type: 'string',
        title: 'Bot token',
        description: 'Name of the secret with the token of the bot (discord.com/developers/applications, "Bot", "Reset Token").',
        minLength: 1,
        maxLength: 64,
      },
      dm_allowed_user_id: {
        type: 'string',
        title: 'Who may write in private',
        description: 'Id of the one person whose private messages are answered. Empty: everybody who is known.',
        default: '',
        pattern: userId,
      },
      channel_mode: {
        type: 'string',
        enum: channelModes,
        title: 'Channels',
        description:
          'What is done with messages in channels: mention answers those that are addressed to it, autonomous also joins in when it has something to say, quiet only reads.',
        default: 'mention',
      },
      channel_modes: {
        type: 'array',
        title: 'Channels that differ',
        description: 'ID=MODE for each, such as 1234567890123456789=autonomous. A thread is as its channel.',
        default: [],
        maxItems: 1000,
        items: { type: 'string', pattern: `^[0-9]{15,21}=(${channelModes.join('|')})$` },
      },
      moderator_user_id: {
        type: 'string',
        title: 'Moderator of rooms',
        description:
          'Id of the one bot whose messages give the word to this one, where several assistants share a channel. Empty: each that names it.',
        default: '',
        pattern: userId,
      },
      autonomous_per_hour: {
        type: 'integer',
        title: 'Unasked answers per hour',
        description: 'So often in an hour it may join in, in each channel that is autonomous.',
        default: 6,
        minimum: 0,
        maximum: 1000,
      },
      backfill_hours: {
        type: 'integer',
        title: 'Messages of its absence (hours)',
        description: 'What was said while it was away is read when it is not older. 0: not at all.',
        default: 12,
        minimum: 0,
        maximum: 168,
      },
      http_port: {
        type: 'integer',
        title: 'Outbound HTTP port',
        description: 'On 127.0.0.1. 0 takes a free one.',
        default: 0,
        minimum: 0,
        maximum: 65_535,
      },
      send_key_secret_key: {
        type: 'string',
        title: 'Key for sending',
        description: 'Name of a secret that programs of this machine show at /send. Without it only the manager can send.',
        minLength: 1,
        maxLength: 64,
      },
      api_url: {
        type: 'string',
        title: 'Discord API',
        description: "Another server than Discord's, that speaks its API.",
        default: 'https://discord.com/api',
        pattern: '^https?://[^\\s/?#@]+(/[^\\s?#@]*)?$',
        maxLength: 1024,
      },
      reactions: {
        type: 'boolean',
        title: 'Reactions',
        description: 'A message that is being answered has 👀 until the answer is there.',
        default: true,
      },
      voice: {
        type: 'boolean',
        title: 'Voice',
        description: 'It can be called into voice channels with /join. Libraries for it are installed when it starts.',
        default: false,
      },
      voice_language: {
        type: 'string',
        title: 'Spoken language',
        description: 'What is spoken, such as en or de. Empty: it is found out.',
        default: '',
        pattern: '^([a-z]{2,3}(-[A-Za-z0-9]{2,8})?)?$',
      },
      ...commonFields('engine', 'model', 'cwd', 'persona', 'allow', 'public', 'reply_style'),
      ...intakeConfig,
    },
  },
  packages: { folder: 'voice', when: 'voice', wasm: true },
  outbound: { kinds: ['text', 'photo', 'document'], target: { required: true, label: 'Channel id' } },
} as const satisfies ConnectorMeta;

/** An instance's config, after the manager has checked it and filled in the defaults. */
export type Config = {
  bot_token_secret_key: string;
  dm_allowed_user_id: string;
  channel_mode: ChannelMode;
  channel_modes: string[];
  moderator_user_id: string;
  autonomous_per_hour: number;
  backfill_hours: number;
  http_port: number;
  send_key_secret_key?: string;
  api_url: string;
  reactions: boolean;
  voice: boolean;
  voice_language: string;
  pairing: boolean;
  reply_style: ReplyStyle;
};
