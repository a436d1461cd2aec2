import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';

/** Describes this connector. Only data: it must not open, read or start anything. */
export const meta = {
  type: 'terminal',
  displayName: 'Terminals',
  supportsMultiple: false,
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
      sender: {
        type: 'string',
        title: 'Types as',
        description: 'Name of a person on the channel "terminal". Text is typed only for a person with every right.',
        default: 'operator',
        minLength: 1,
        maxLength: 200,
        pattern: '^[^\\p{Cc}]+$',
      },
    },
  },
  outbound: { kinds: ['text', 'interrupt'], target: { required: true, label: 'Terminal or conversation' }, steers: true },
  permissions: { sessions: 'every' },
} as const satisfies ConnectorMeta;

/** An instance's config, validated and with defaults filled in by the manager. */
export type Config = { sender: string };
