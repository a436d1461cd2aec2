import { commonFields } from '@svc/connector-kit/common-fields.ts';
import { intakeConfig } from '@svc/connector-kit/intake-config.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { ReplyStyle } from '@svc/connector-kit/common-fields.ts';

/** How messages of a channel that are not addressed to the assistant are handled. */
export const channelModes = ['mention', 'autonomous', 'quiet'] as const;
export type ChannelMode = (typeof channelModes)[number];

const userId = '^([0-9]{15,21})?$';

/** Describes this connector. Only data: it must not open, read or start anything. */
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
        description: 'Name of the secret that holds the bot token (discord.com/developers/applications, "Bot", "Reset Token").',
        minLength: 1,
        maxLength: 64,
      },
      dm_allowed_user_id: {
        type: 'string',
        title: 'Private messages from',
        description: 'ID of the only person whose private messages are answered. If empty, everyone who is known is answered.',
        default: '',
        pattern: userId,
      },
      channel_mode: {
        type: 'string',
        enum: channelModes,
        title: 'Channels',
        description:
          'How messages in channels are handled: "mention" answers those that mention the assistant, "autonomous" also lets it join in when it has something to say, "quiet" only reads.',
        default: 'mention',
      },
      channel_modes: {
        type: 'array',
        title: 'Mode of single channels',
        description:
          'ID=MODE for each channel that differs, such as 1234567890123456789=autonomous. A thread has the mode of its channel.',
        default: [],
        maxItems: 1000,
        items: { type: 'string', pattern: `^[0-9]{15,21}=(${channelModes.join('|')})$` },
      },
      moderator_user_id: {
        type: 'string',
        title: 'Moderator bot',
        description:
          'ID of the only bot that may give this assistant the floor where several share a channel. If empty, every bot that mentions it may.',
        default: '',
        pattern: userId,
      },
      autonomous_per_hour: {
        type: 'integer',
        title: 'Unasked answers per hour',
        description: 'How often per hour the assistant may join in unasked, in each autonomous channel.',
        default: 6,
        minimum: 0,
        maximum: 1000,
      },
      backfill_hours: {
        type: 'integer',
        title: 'Catch up on messages (hours)',
        description:
          'Messages that arrived while the connector was offline are read if they are not older than this. 0 reads none.',
        default: 12,
        minimum: 0,
        maximum: 168,
      },
      http_port: {
        type: 'integer',
        title: 'Outbound HTTP port',
        description: 'On 127.0.0.1. 0 picks a free port.',
        default: 0,
        minimum: 0,
        maximum: 65_535,
      },
      send_key_secret_key: {
        type: 'string',
        title: 'Key for sending',
        description: 'Name of the secret that programs on this machine send to /send. Without it, only the manager can send.',
        minLength: 1,
        maxLength: 64,
      },
      api_url: {
        type: 'string',
        title: 'Discord API',
        description: "Address of a server other than Discord's that provides the same API.",
        default: 'https://discord.com/api',
        pattern: '^https?://[^\\s/?#@]+(/[^\\s?#@]*)?$',
        maxLength: 1024,
      },
      reactions: {
        type: 'boolean',
        title: 'Reactions',
        description: 'A message that is being answered is marked with 👀 until it is answered.',
        default: true,
      },
      voice: {
        type: 'boolean',
        title: 'Voice',
        description:
          '/join calls the assistant into a voice channel. The libraries for this are installed when the connector starts.',
        default: false,
      },
      voice_language: {
        type: 'string',
        title: 'Spoken language',
        description: 'Language that people speak, such as en or de. If empty, it is detected.',
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

/** An instance's config, validated and with defaults filled in by the manager. */
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
