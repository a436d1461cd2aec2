import { intakeConfig, type ConnectorMeta } from '@svc/connector-kit';

/** The description of this connector. It is only data: it must not open, read or start anything. */
export const meta = {
  type: 'platform',
  displayName: 'Chat platform',
  supportsMultiple: true,
  capabilities: {
    max_message_chars: 500,
    supports_markdown: false,
    supports_code_blocks: false,
    supports_attachments_out: false,
    actions: ['react'],
  },
  credentialKeys: ['token_secret_key'],
  exclusive: ['token_secret_key'],
  configSchema: {
    type: 'object',
    required: ['base_url', 'token_secret_key'],
    properties: {
      base_url: { type: 'string', title: 'Address of the platform', minLength: 1 },
      token_secret_key: { type: 'string', title: 'Token', description: 'Name of the secret with the bot token.', minLength: 1 },
      max_chars: { type: 'integer', title: 'Longest message', default: 500, minimum: 10, maximum: 100_000 },
      edit_ms: { type: 'integer', title: 'Between two writes to a chat, ms', default: 1500, minimum: 0, maximum: 60_000 },
      finds_nonces: { type: 'boolean', title: 'Its messages can be found by their nonce', default: false },
      ...intakeConfig,
    },
  },
  outbound: { kinds: ['text'], target: { required: true, label: 'Chat id' } },
} as const satisfies ConnectorMeta;

/** An instance's config, after the manager has checked it and filled in the defaults. */
export type Config = {
  base_url: string;
  token_secret_key: string;
  max_chars: number;
  edit_ms: number;
  finds_nonces: boolean;
};
