import { commonFields, intakeConfig, type ConnectorMeta } from '@svc/connector-kit';

/** What this connector is. It is data: nothing here may open, read or start anything. */
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
  configSchema: {
    type: 'object',
    required: ['token_secret_key'],
    properties: {
      token_secret_key: {
        type: 'string',
        title: 'Token',
        description: 'Name of the secret that callers show as "Authorization: Bearer …".',
        minLength: 1,
      },
      port: { type: 'integer', title: 'HTTP port', description: '0 takes a free one.', default: 0, minimum: 0, maximum: 65_535 },
      callback_url: {
        type: 'string',
        title: 'Callback address',
        description: 'Messages that nobody has just asked for are posted here.',
        default: '',
      },
      ...intakeConfig,
      ...commonFields('engine', 'model', 'cwd', 'persona', 'allow', 'public'),
    },
  },
  outbound: { kinds: ['text'], target: { required: true, label: 'User' } },
} as const satisfies ConnectorMeta;

/** An instance's config, after the manager has checked it and filled in the defaults. */
export type Config = { token_secret_key: string; port: number; callback_url: string };
