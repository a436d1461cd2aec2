import { commonFields, intakeConfig, type ConnectorMeta } from '@svc/connector-kit';

/** Describes this connector. Only data: it must not open, read or start anything. */
export const meta = {
  type: 'template',
  displayName: 'Template',
  supportsMultiple: true,
  capabilities: {
    max_message_chars: 4000,
    supports_markdown: true,
    supports_code_blocks: true,
    supports_attachments_out: false,
  },
  credentialKeys: ['token_secret_key'],
  exclusive: ['token_secret_key'],
  configSchema: {
    type: 'object',
    required: ['token_secret_key'],
    properties: {
      token_secret_key: {
        type: 'string',
        title: 'Token',
        description: 'Name of the secret that holds the bot token.',
        minLength: 1,
      },
      base_url: {
        type: 'string',
        title: 'Address of the platform',
        description: 'If empty, the connector runs a small practice platform itself.',
        default: '',
      },
      port: {
        type: 'integer',
        title: 'Port of the practice platform',
        description: '0 picks a free port.',
        default: 0,
        minimum: 0,
        maximum: 65_535,
      },
      ...commonFields('engine', 'model', 'cwd', 'persona', 'allow', 'public', 'mention_only', 'reply_style'),
      ...intakeConfig,
    },
  },
  outbound: { kinds: ['text'], target: { required: true, label: 'Chat' } },
} as const satisfies ConnectorMeta;

/** An instance's config, validated and with defaults filled in by the manager. */
export type Config = { token_secret_key: string; base_url: string; port: number; reply_style: 'stream' | 'final' | 'steps' };
