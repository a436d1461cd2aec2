import { commonFields } from '@svc/connector-kit/common-fields.ts';
import { intakeConfig } from '@svc/connector-kit/intake-config.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';
import type { ReplyStyle } from '@svc/connector-kit/common-fields.ts';

/** What this connector is. It is data: nothing here may open, read or start anything. */
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
        description: 'Name of the secret with the token that @BotFather gave.',
        minLength: 1,
        maxLength: 64,
      },
      allowed_chat_ids: {
        type: 'array',
        title: 'Allowed chats',
        description:
          'Ids of the chats that are answered. Empty: people who are known, or while nobody is, the first chat that writes.',
        default: [],
        maxItems: 1000,
        items: { type: 'integer', minimum: -9_007_199_254_740_991, maximum: 9_007_199_254_740_991 },
      },
      http_port: {
        type: 'integer',
        title: 'Outbound HTTP port',
        description: 'On 127.0.0.1. 0 takes a free one.',
        default: 3008,
        minimum: 0,
        maximum: 65_535,
      },
      send_key_secret_key: {
        type: 'string',
        title: 'Key for sending',
        description:
          'Name of a secret that programs of this machine show at /send, /send-photo and /send-document. Without it only the manager can send.',
        minLength: 1,
        maxLength: 64,
      },
      photo_dir: {
        type: 'string',
        title: 'Photo folder',
        description: 'Where incoming photos are saved; a relative one lies in the folder of the instance.',
        default: 'photos',
        minLength: 1,
        maxLength: 1024,
      },
      photo_days: {
        type: 'integer',
        title: 'Days of photos',
        description: 'How long photos stay in the photo folder. 0: for ever.',
        default: 30,
        minimum: 0,
        maximum: 36_500,
      },
      photo_mb: {
        type: 'integer',
        title: 'Size of photos',
        description: 'Megabytes of photos that stay in the photo folder, the newest. 0: all of them.',
        default: 1000,
        minimum: 0,
        maximum: 1_000_000,
      },
      api_root: {
        type: 'string',
        title: 'Bot API server',
        description: "Another one than Telegram's: a Bot API server of your own.",
        default: 'https://api.telegram.org',
        pattern: '^https?://[^\\s/?#@]+(/[^\\s?#@]*)?$',
        maxLength: 1024,
      },
      reactions: {
        type: 'boolean',
        title: 'Reactions',
        description: 'A message that is being answered has 👀 until the answer is there.',
        default: true,
      },
      api_files_dir: {
        type: 'string',
        title: 'Files of the Bot API server',
        description: 'Folder in which a Bot API server on this machine, started with --local, keeps files.',
        default: '',
        maxLength: 1024,
      },
      webhook_url: {
        type: 'string',
        title: 'Webhook address',
        description:
          'Where Telegram brings updates, in place of being asked for them: https, of a proxy that passes them on to webhook_port.',
        default: '',
        pattern: '^(https://[^\\s/?#@]+/[^\\s?#@:*]*)?$',
        maxLength: 1024,
      },
      webhook_port: {
        type: 'integer',
        title: 'Webhook port',
        description: 'On 127.0.0.1, for the proxy. 0 while there is no webhook.',
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

/** An instance's config, after the manager has checked it and filled in the defaults. */
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
