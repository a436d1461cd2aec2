import { commonFields } from '@svc/connector-kit/common-fields.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';

export const meta = {
  type: 'compat',
  displayName: 'Chat completions API',
  supportsMultiple: true,
  capabilities: {
    max_message_chars: 1_000_000,
    supports_markdown: true,
    supports_code_blocks: true,
    supports_attachments_out: false,
  },
  credentialKeys: [],
  configSchema: {
    type: 'object',
    required: [],
    properties: {
      port: { type: 'integer', title: 'HTTP port', default: 3025, minimum: 0, maximum: 65_535 },
      bind_host: { type: 'string', title: 'Bind address', default: '127.0.0.1', minLength: 1, maxLength: 64 },
      model_name: {
        type: 'string',
        title: 'Advertised model id',
        default: 'svc',
        description: 'Returned by the models route and echoed in replies.',
        minLength: 1,
        maxLength: 128,
      },
      require_key: {
        type: 'boolean',
        title: 'Require a key',
        default: true,
        description: 'If off, every caller is the identity "anonymous".',
      },
      keys_file: {
        type: 'string',
        title: 'Keys file',
        default: 'keys.json',
        description: 'Maps keys to identities: { "keys": [{ "key", "identity", "username" }] }, mode 0600.',
        minLength: 1,
        maxLength: 4096,
      },
      conversation_per_request: {
        type: 'boolean',
        title: 'New conversation for each request',
        default: false,
        description:
          'For clients that send the whole conversation each time, or ask single questions. X-Session-Key still names a lasting conversation; the others are deleted a day after their last use.',
      },
      ...commonFields('engine', 'model', 'cwd', 'persona', 'allow', 'public'),
    },
  },
  outbound: false,
  permissions: { read: ['keys_file'] },
  // All bodies being read may take 64 MiB together.
  memory_mb: 512,
} as const satisfies ConnectorMeta;

/** An instance's config, validated and with defaults filled in. */
export type CompatConfig = {
  port: number;
  bind_host: string;
  model_name: string;
  require_key: boolean;
  /** Absolute, or relative to the instance's own folder. */
  keys_file: string;
  conversation_per_request: boolean;
};
