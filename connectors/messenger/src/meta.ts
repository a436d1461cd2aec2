import { commonFields } from '@svc/connector-kit/common-fields.ts';
import { intakeConfig } from '@svc/connector-kit/intake-config.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { ReplyStyle } from '@svc/connector-kit/common-fields.ts';

/** Describes this connector. Only data: it must not open, read or start anything. */
export const meta = {
  type: 'messenger',
  displayName: 'Telegram',
  supportsMultiple: true,
  capabilities: {
    max_message_chars: 4096,
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
        description: 'Name of the secret that holds the bot token from @BotFather.',
        minLength: 1,
        maxLength: 64,
      },
      allowed_chat_ids: {
        type: 'array',
        title: 'Allowed chats',
        description:
          'IDs of the chats that are answered. If empty, known people are answered; while nobody is known, the first chat that writes.',
        default: [],
        maxItems: 1000,
        items: { type: 'integer', minimum: -9_007_199_254_740_991, maximum: 9_007_199_254_740_991 },
      },
      http_port: {
        type: 'integer',
        title: 'Outbound HTTP port',
        description: 'On 127.0.0.1. 0 picks a free port.',
        default: 3008,
        minimum: 0,
        maximum: 65_535,
      },
      send_key_secret_key: {
        type: 'string',
        title: 'Key for sending',
        description:
          'Name of the secret that programs on this machine send to /send, /send-photo and /send-document. Without it, only the manager can send.',
        minLength: 1,
        maxLength: 64,
      },
      photo_dir: {
        type: 'string',
        title: 'Photo folder',
        description: 'Where incoming photos are saved. A relative path is inside the folder of the instance.',
        default: 'photos',
        minLength: 1,
        maxLength: 1024,
      },
      photo_days: {
        type: 'integer',
        title: 'Keep photos (days)',
        description: 'How long photos stay in the photo folder. 0 keeps them forever.',
        default: 30,
        minimum: 0,
        maximum: 36_500,
      },
      photo_mb: {
        type: 'integer',
        title: 'Keep photos (MB)',
        description: 'How many megabytes of the newest photos stay in the photo folder. 0 keeps all of them.',
        default: 1000,
        minimum: 0,
        maximum: 1_000_000,
      },
      api_root: {
        type: 'string',
        title: 'Bot API server',
        description: "Address of your own Bot API server, in place of Telegram's.",
        default: 'https://api.telegram.org',
        pattern: '^https?://[^\\s/?#@]+(/[^\\s?#@]*)?$',
        maxLength: 1024,
      },
      reactions: {
        type: 'boolean',
        title: 'Reactions',
        description: 'A message that is being answered is marked with 👀 until it is answered.',
        default: true,
      },
      api_files_dir: {
        type: 'string',
        title: 'Files of the Bot API server',
        description: 'Folder where a Bot API server on this machine, started with --local, stores files.',
        default: '',
        maxLength: 1024,
      },
      webhook_url: {
        type: 'string',
        title: 'Webhook address',
        description:
          'https address where Telegram delivers updates instead of being polled: a proxy that forwards them to webhook_port.',
        default: '',
        pattern: '^(https://[^\\s/?#@]+/[^\\s?#@:*]*)?$',
        maxLength: 1024,
      },
      webhook_port: {
        type: 'integer',
        title: 'Webhook port',
        description: 'Port on 127.0.0.1 that the proxy forwards to. 0 means no webhook.',
        default: 0,
        minimum: 0,
        maximum: 65_535,
      },
      ...commonFields('engine', 'model', 'cwd', 'persona', 'allow', 'public', 'mention_only', 'reply_style'),
      ...intakeConfig,
    },
  },
  outbound: { kinds: ['text', 'photo', 'document'], target: { required: true, label: 'Chat id' } },
  permissions: { read: ['api_files_dir'], write: ['photo_dir'] },
} as const satisfies ConnectorMeta;

/** An instance's config, validated and with defaults filled in by the manager. */
export type Config = {
  bot_token_secret_key: string;
  allowed_chat_ids: number[];
  http_port: number;
  send_key_secret_key?: string;
  photo_dir: string;
  photo_days: number;
  photo_mb: number;
  api_root: string;
  reactions: boolean;
  api_files_dir: string;
  webhook_url: string;
  webhook_port: number;
  mention_only: boolean;
  pairing: boolean;
  reply_style: ReplyStyle;
};
