import { commonFields } from '@svc/connector-kit/common-fields.ts';
import type { ConnectorMeta } from '@svc/contract/connector-meta.ts';

/** Stands for "not set": while it does, clients are told the connector's own address. */
export const placeholderBaseUrl = 'https://assistant.example.com';

/** What this connector is. It is data: nothing here may open, read or start anything. */
export const meta = {
  type: 'toolserver',
  displayName: 'MCP server',
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
      port: { type: 'integer', title: 'HTTP port', default: 3018, minimum: 0, maximum: 65_535 },
      bind_host: { type: 'string', title: 'Bind address', default: '127.0.0.1', minLength: 1, maxLength: 64 },
      base_url: {
        type: 'string',
        title: 'Public address',
        description:
          'Address by which clients reach this server: https://name without a path. While it is the placeholder, the address on this machine is used.',
        default: placeholderBaseUrl,
        minLength: 1,
        maxLength: 512,
      },
      clients_file: {
        type: 'string',
        title: 'Clients file',
        description:
          'Clients that you register yourself: { "clients": [{ "client_id", "client_secret", "client_name", "redirect_uris", "identity": { "userId", "username" } }] }, mode 0600.',
        default: 'clients.json',
        minLength: 1,
        maxLength: 4096,
      },
      allowed_origins: {
        type: 'array',
        title: 'Web pages',
        description: 'Origins of web pages that may be clients, such as https://app.example. Programs need no entry.',
        default: [],
        maxItems: 50,
        items: { type: 'string', pattern: '^https?://[^\\s/?#@*]+$', maxLength: 256 },
      },
      ...commonFields('engine', 'model', 'cwd', 'persona', 'allow', 'public', 'pairing'),
    },
  },
  outbound: { kinds: ['text'], target: { required: true, label: 'User' } },
  calls: ['approve', 'clients', 'revoke'],
  permissions: { read: ['clients_file'] },
  // Questions with their files may take 48 MiB together, several times over while they are read.
  memory_mb: 512,
} as const satisfies ConnectorMeta;

/** An instance's config, after the manager has checked it and filled in the defaults. */
export type Config = {
  port: number;
  bind_host: string;
  base_url: string;
  clients_file: string;
  allowed_origins: string[];
  pairing: boolean;
};
